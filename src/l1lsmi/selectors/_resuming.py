"""What a fit goes on from, a checkpoint or the fit before, and which data and parameters it belongs to."""

from __future__ import annotations

import hashlib
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import l1lsmi
from l1lsmi._checkpoint import Checkpoint
from l1lsmi._rows.content import has_order
from l1lsmi._rows.distinct import row_hashes
from l1lsmi._rows.table import Table
from l1lsmi.strategies._pieces import identify, is_kept, kept_in, remember

#: Parameters that change no answer.
FREE = ("time_limit", "n_jobs", "verbose", "checkpoint", "warm_start", "callbacks")
#: Parameters that say how much is searched: what is known of other numbers is used where it can be.
COUNTS = ("n_features_to_select", "n_restarts")
#: Longer texts of parameters are cut in messages.
LONGEST = 80


@contextmanager
def resuming(selector: Any) -> Iterator[None]:
    """Keep what a fit finds in its checkpoint, or with ``warm_start`` in the selector, and use it."""
    checkpoint = None
    if selector.checkpoint is not None:
        checkpoint = Checkpoint(selector.checkpoint, l1lsmi.__version__)
    elif selector.warm_start:
        checkpoint = getattr(selector, "_known", None) or Checkpoint(None, l1lsmi.__version__)
        selector._known = checkpoint
    with kept_in(checkpoint):
        yield


def check_same_fit(selector: Any, table: Any, target: Any, beside: Mapping[str, Any]) -> None:
    """Check that what is known belongs to these data and parameters.

    Parameters
    ----------
    selector : PartsSelector
    table : RowTable
    target : Target
    beside : mapping of str to numpy.ndarray or None
        Further numbers of every row.
    """
    if is_kept():
        identify({"parameters": _parameters(selector), "data": _data(selector, table, target, beside)})


def remember_answer(asked: Any, learned: dict[str, Any]) -> None:
    """Keep learned attributes; a strategy of others may have some that cannot be kept."""
    try:
        remember("answer", asked, learned)
    except TypeError as error:
        told = f"The result cannot be kept in the checkpoint, and another fit will search again: {error}"
        warnings.warn(told, RuntimeWarning, stacklevel=2)


def counts_of(selector: Any) -> dict[str, str]:
    """Parameters that say how much is searched, as texts, by name."""
    given = selector.get_params(deep=True)
    return {name: repr(value) for name, value in given.items() if name.split("__")[-1] in COUNTS}


def _parameters(selector: Any) -> dict[str, str]:
    given = selector.get_params(deep=True).items()
    own = {name: _told(value) for name, value in given if name.split("__")[-1] not in (*FREE, *COUNTS)}
    return {"selector": type(selector).__name__, **own}


def _told(value: Any) -> str:
    """A parameter as a text that is the same in every process."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return type(value).__name__  # its parameters are listed, too
    if isinstance(value, np.random.RandomState):
        return f"RandomState {_hash(*(np.asarray(part) for part in value.get_state(legacy=True)))}"
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    with np.printoptions(threshold=sys.maxsize):
        text = re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({_hash(text)})"


def _data(selector: Any, table: Any, target: Any, beside: Mapping[str, Any]) -> dict[str, str]:
    """What tells these data from others: hashes of all rows, also of rows that are not in memory."""
    hashes = row_hashes(table.x) if isinstance(table, Table) else table.hashes
    if selector._orders_rows() and has_order(table.n_rows, table.n_columns):
        hashes = np.sort(hashes)  # rows are in an order that follows from X and y
    kinds = [] if table.kinds is None else [table.kinds.n_levels, table.kinds.as_value]
    values = target.codes if target.values is None else target.values
    found = {
        "rows": str(table.n_rows),
        "columns": str(table.n_columns),
        "X": _hash(hashes, *kinds),
        "y": _hash(target.task, values),
        "sample_weight": _hash(target.row_weights),
    }
    return {**found, **{name: _hash(value) for name, value in beside.items()}}


def _hash(*parts: Any) -> str:
    made = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            made.update(f"{part.dtype.str}{part.shape}".encode())
            plain = part.dtype != object
            made.update(np.ascontiguousarray(part).tobytes() if plain else repr(part.tolist()).encode())
        else:
            made.update(repr(part).encode())
    return made.hexdigest()[:20]
