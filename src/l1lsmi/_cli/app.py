"""All commands, and what becomes of everything that can go wrong: a sentence and an exit code."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from l1lsmi import __version__
from l1lsmi._cli.apply import apply
from l1lsmi._cli.compare import compare
from l1lsmi._cli.measure import measure
from l1lsmi._cli.options import say
from l1lsmi._cli.schema import schema
from l1lsmi._cli.select import select
from l1lsmi._cli.text import one_line, typed
from l1lsmi.files import FileProblem

DONE, UNUSABLE, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the file or the data cannot be used, 2 wrong usage, 130 interrupted.",
)
@click.version_option(__version__, prog_name="l1lsmi")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.pass_obj
def app(state: dict[str, Any], debug: bool) -> None:
    """Pick the few columns of a file that say most about one of them, also when they do so only together.

    \b
    Example:
      l1lsmi select patients.csv --target diagnosis -k 10 --report report.html
    """
    state["debug"] = debug


for command in (select, apply, compare, measure, schema):
    app.add_command(command)


def run(args: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code; whatever goes wrong is said in a sentence on standard error.

    Parameters
    ----------
    args : sequence of str or None
        Arguments; None takes those of the process.

    Returns
    -------
    code : int
    """
    state: dict[str, Any] = {"debug": False, "json": False, "told": False}
    try:
        result = app.main(args, prog_name="l1lsmi", standalone_mode=False, obj=state)
        if sys.stdout is not None:
            sys.stdout.flush()  # what cannot be written is to be known here
    except click.ClickException as error:
        return _say(state, "usage", error.format_message(), WRONG_USAGE, _hint(error))
    except (click.Abort, KeyboardInterrupt):
        return _say(state, "interrupted", "Interrupted before there was a result.", INTERRUPTED)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        _give_up_output()
        return UNUSABLE
    except (FileProblem, ValueError, TypeError, OSError, MemoryError, ModuleNotFoundError) as error:
        if state["debug"]:
            traceback.print_exc()
        if isinstance(error, OSError) and error.filename is None:
            # Errors of files say which: this one is of the only stream that is written without a name.
            _give_up_output()
            state["told"] = True
        return _say(state, "data", _sentence(error), UNUSABLE)
    except SystemExit as leaving:  # click answers a broken pipe by itself
        _give_up_output()
        return leaving.code if isinstance(leaving.code, int) else UNUSABLE
    return result if isinstance(result, int) else DONE


def _give_up_output() -> None:
    """Let nothing more come to standard output, which the end of the interpreter would try again to fill."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError, AttributeError):  # of streams that are not those of the process
        pass


def _sentence(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "There is not enough memory for this: use fewer rows or columns (--only, --drop)."
    if isinstance(error, OSError):
        if error.filename is None:
            return f"Standard output cannot be written: {error.strerror or error}."
        return f"{one_line(error.filename)} cannot be used: {error.strerror}."
    words = " ".join(str(error).split())
    if isinstance(error, FileProblem):
        words = typed(words)
    return words or f"{type(error).__name__} without a word: run with --debug to see where it came from."


def _hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"Try '{context.command_path} --help'." if context is not None else ""


def _say(state: dict[str, Any], kind: str, sentence: str, code: int, hint: str = "") -> int:
    sentence = one_line(sentence)
    # Whoever reads JSON gets one document: where the result is out, what failed after it is said beside it.
    if state["json"] and not state["told"]:
        document = {"format": "l1lsmi-error", "version": 1, "kind": kind, "message": sentence}
        try:
            print(json.dumps(document), flush=True)
        except OSError:
            _give_up_output()
    say(f"Error: {sentence}{' ' + hint if hint else ''}")
    return code
