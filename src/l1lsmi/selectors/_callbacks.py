"""Callbacks of a selector: plain functions, and those of scikit-learn where it has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.strategies._listening import Callback, Listeners, heard_by

__all__ = ["CallbackSupportMixin", "telling"]

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # of scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks but those of the parameter."""


@contextmanager
def telling(selector: Any, X: Any, y: Any) -> Iterator[None]:
    """Tell the callbacks of a selector of every step of its search."""
    callbacks = _functions(selector.callbacks)
    with ExitStack() as stack:
        root = None
        if hasattr(selector, "_skl_callbacks"):
            stack.enter_context(callback_management_context(selector))
            root = selector._init_callback_context(max_subtasks=None)
            root.call_on_fit_task_begin(estimator=selector, X=X, y=y)
            callbacks = [*callbacks, _as_function(selector, root, X, y)]
        stack.enter_context(heard_by(Listeners(callbacks) if callbacks else None))
        yield
        if root is not None:
            root.call_on_fit_task_end(estimator=selector, X=X, y=y)


def _functions(given: Any) -> list[Callback]:
    functions = list(given) if isinstance(given, list | tuple) else [] if given is None else [given]
    for place, function in enumerate(functions):
        if not callable(function):
            raise ValueError(
                f"callbacks has {function!r} at index {place}, which is not callable: pass functions of "
                "(step, best, score, seconds)."
            )
    return functions


def _as_function(selector: Any, root: Any, X: Any, y: Any) -> Callback:
    """The callbacks of scikit-learn as one function: every step is a task of the fit."""

    def tell(step: int, best: HostArray, score: float, seconds: float) -> bool:
        found = {"step": step, "best": best, "score": score, "seconds": seconds}
        given = {"estimator": selector, "X": X, "y": y, "metadata": found}
        task = root.subcontext(task_name="step")
        task.call_on_fit_task_begin(**given)
        return bool(np.any(task.call_on_fit_task_end(**given)))

    return tell
