"""What is allowed: a result that keeps its contract, or one sentence; and nothing that is left over."""

from __future__ import annotations

import os
import resource
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.exceptions import ConvergenceWarning

import l1lsmi
from l1lsmi._warnings import DataWarning

LONGEST_SENTENCE = 400
MOST_MEMORY = 4 * 2**30
PACKAGE = str(Path(l1lsmi.__file__).parent)
HERE = str(Path(__file__).parent)


class Failure(NamedTuple):
    """What is not allowed; failures of the same ``kind`` are counted together."""

    kind: str
    told: str


class Broken(AssertionError):
    """A result that does not keep its contract."""


def check(holds: Any, sentence: str) -> None:
    """Raise where a contract is not kept."""
    if not holds:
        raise Broken(sentence)


def judged(
    call: Callable[[], Any], errors: tuple[type[Exception], ...] = (ValueError, TypeError)
) -> Failure | None:
    """Run a case: None if what comes out is allowed."""
    before = set(_children())
    told: list[tuple[Any, str]] = []

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        warning = warnings.WarningMessage(message, category, filename, lineno)
        told.append((warning, _last_of_package(traceback.extract_stack())))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        failure = _outcome(call, errors)
    for warning, place in told:
        if failure is None and not _is_allowed(warning):
            name = warning.category.__name__
            failure = Failure(f"warning {name} {place}", f"{name}: {warning.message}")
    left = set(_children()) - before
    if failure is None and left:
        failure = Failure("a process is left over", str(sorted(left)))
    if failure is None and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > MOST_MEMORY:
        failure = Failure("more memory than allowed", "")
    return failure


def _outcome(call: Callable[[], Any], errors: tuple[type[Exception], ...]) -> Failure | None:
    try:
        call()
    except Broken as broken:
        return Failure(f"contract: {str(broken).split(':')[0]}", str(broken))
    except errors as error:
        problem = _problem_of(error)
        return (
            None
            if problem is None
            else Failure(f"{problem} {_place(error)}", f"{type(error).__name__}: {error}")
        )
    except Exception as error:
        return Failure(f"{type(error).__name__} {_place(error)}", f"{type(error).__name__}: {error}")
    return None


def _problem_of(error: Exception) -> str | None:
    """What is wrong with a refusal, None if it is one clear sentence."""
    told, frames = str(error), traceback.extract_tb(error.__traceback__)
    if not told or "\n" in told or "Traceback" in told:
        return f"{type(error).__name__} is not one sentence"
    if len(told) > LONGEST_SENTENCE:
        return f"{type(error).__name__} is too long"
    raised_in = frames[-1].filename
    if raised_in.startswith(PACKAGE) or f"{os.sep}sklearn{os.sep}" in raised_in:
        return None
    return f"{type(error).__name__} of another library"


def _place(error: Exception) -> str:
    """The last line of the package on the way to where an error was raised."""
    return _last_of_package(traceback.extract_tb(error.__traceback__))


def _last_of_package(frames: Any) -> str:
    ours = [frame for frame in frames if frame.filename.startswith(PACKAGE)]
    last = ours[-1] if ours else frames[-1]
    return f"{_short(last.filename)}:{last.lineno}"


def _short(filename: str) -> str:
    return filename.removeprefix(str(Path(PACKAGE).parent) + os.sep)


def _is_allowed(warning: warnings.WarningMessage) -> bool:
    if issubclass(warning.category, (DataWarning, ConvergenceWarning)):
        return True
    if str(warning.message).startswith("No features were selected"):  # by the selectors of scikit-learn
        return True
    return warning.category is UserWarning and "site-packages" not in warning.filename


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
