"""The command group, and the message and exit code of every error."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import click

from l1lsmi import __version__
from l1lsmi._cli import commands
from l1lsmi._cli.interrupt import INTERRUPTED, MESSAGE
from l1lsmi._cli.output import discard, print_message
from l1lsmi._cli.text import one_line, with_options

DONE, UNUSABLE, WRONG_USAGE = 0, 1, 2


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 the file or the data cannot be used, 2 wrong usage, 130 interrupted.",
)
@click.version_option(__version__, prog_name="l1lsmi")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.pass_obj
def app(state: dict[str, Any], debug: bool) -> None:
    """Select the few columns of a file that best predict one of them, interactions included.

    \b
    Example:
      l1lsmi select patients.csv --target diagnosis -k 10 --report report.html
    """
    state["debug"] = debug


for command in (commands.select, commands.apply, commands.compare, commands.measure, commands.schema):
    app.add_command(command)


def run(args: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; every error is one sentence on standard error.

    Parameters
    ----------
    args : sequence of str or None
        Arguments; None takes those of the process.

    Returns
    -------
    code : int
    """
    state: dict[str, Any] = {"debug": False, "json": False, "printed": False}
    try:
        result = app.main(args, prog_name="l1lsmi", standalone_mode=False, obj=state)
        if sys.stdout is not None:
            sys.stdout.flush()  # raises here what cannot be written
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
        return DONE
    except click.ClickException as error:
        return _fail(state, "usage", error.format_message(), WRONG_USAGE, _hint(error))
    except (click.Abort, KeyboardInterrupt):
        return _fail(state, "interrupted", MESSAGE, INTERRUPTED)
    except BrokenPipeError:  # the reader, such as head, has ended
        discard(sys.stdout)
        return UNUSABLE
    except (ValueError, TypeError, OSError, MemoryError, ModuleNotFoundError) as error:
        if state["debug"]:
            traceback.print_exc()
        if isinstance(error, OSError) and error.filename is None:
            # Errors of files have a file name: this is standard output.
            discard(sys.stdout)
            state["printed"] = True
        return _fail(state, "data", _message(error), UNUSABLE)
    except SystemExit as leaving:  # click handles a broken pipe itself
        discard(sys.stdout)
        return leaving.code if isinstance(leaving.code, int) else UNUSABLE
    return result if isinstance(result, int) else DONE


def _message(error: BaseException) -> str:
    from l1lsmi.files import FileProblem

    if isinstance(error, MemoryError):
        return "There is not enough memory for this: use fewer rows or columns (--keep, --drop)."
    if isinstance(error, OSError):
        if error.filename is None:
            return f"Standard output cannot be written: {error.strerror or error}."
        return f"{one_line(error.filename)} cannot be used: {error.strerror}."
    text = " ".join(str(error).split())
    if isinstance(error, FileProblem):
        text = with_options(text)
    return text or f"{type(error).__name__} without a message: run with --debug to see its traceback."


def _hint(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"Try '{context.command_path} --help'." if context is not None else ""


def _fail(state: dict[str, Any], kind: str, message: str, code: int, hint: str = "") -> int:
    message = one_line(message)
    # With --json one document is printed: if it is the result, a later error goes to standard error alone.
    if state["json"] and not state["printed"]:
        document = {"format": "l1lsmi-error", "version": 1, "kind": kind, "message": message}
        try:
            print(json.dumps(document), flush=True)
        except OSError:
            discard(sys.stdout)
    print_message(f"Error: {message}{' ' + hint if hint else ''}")
    return code
