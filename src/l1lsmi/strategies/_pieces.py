"""Pieces of the work of a search, whose results a checkpoint keeps.

A piece is what is computed at once and depends on nothing but the data, the parameters and its key: a
restart, some candidates of a greedy step, a set that is scored, a search on a part of the rows. A search asks
for a piece before it computes it, so that one that begins anew comes to where it was by what is kept. No
piece draws from a random generator of another.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from l1lsmi._checkpoint import Checkpoint, Codec, Key, digest
from l1lsmi._clock import Budget
from l1lsmi._numerics.model import Fit, Model, ScoredModel
from l1lsmi._numerics.optimization.exchanges import Hints
from l1lsmi._numerics.optimization.radius import PathPoint
from l1lsmi._numerics.terms.candidates import Candidate
from l1lsmi._numerics.terms.families import Family, Term
from l1lsmi.strategies.selection import Step

T = TypeVar("T")

#: What results are made of; records of strategies are added where they are defined.
CODEC = Codec(Model, Fit, ScoredModel, Hints, PathPoint, Family, Term, Candidate, Step)


#: Larger results are kept only if they took more seconds than this, for the file to stay small.
LARGE_BYTES = 100_000
WORTH_KEEPING = 1.0


class _Place(NamedTuple):
    """Where results are kept, and under which names."""

    checkpoint: Checkpoint
    names: Key = ()


# Not a parameter: every loop of every search would have to hand it on. Threads and processes that a search
# starts do not see it, so that what they compute is a piece as a whole.
_place: ContextVar[_Place | None] = ContextVar("place", default=None)


@contextmanager
def kept_in(checkpoint: Checkpoint | None) -> Iterator[None]:
    """Keep the results of pieces in a checkpoint, which is written in the end, also after an error."""
    token = _place.set(None if checkpoint is None else _Place(checkpoint))
    try:
        yield
    finally:
        _place.reset(token)
        if checkpoint is not None:
            checkpoint.write()


@contextmanager
def part_of(name: str, content: Any) -> Iterator[None]:
    """Keep what follows under a name of its own: a pool, or a part of the rows."""
    place = _place.get()
    if place is None:
        yield
        return
    token = _place.set(place._replace(names=(*place.names, _piece(name, content))))
    try:
        yield
    finally:
        _place.reset(token)


def identify(identity: dict[str, dict[str, str]]) -> None:
    """Say which parameters and data the results belong to: see `Checkpoint.identify`."""
    place = _place.get()
    if place is not None:
        place.checkpoint.identify(identity)


def is_kept() -> bool:
    """Whether results are kept."""
    return _place.get() is not None


def known(name: str, content: Any) -> Any:
    """The result of a piece, None where it is not kept."""
    place = _place.get()
    if place is None:
        return None
    key = (*place.names, _piece(name, content))
    return place.checkpoint.get(key, CODEC) if key in place.checkpoint else None


def recall(name: str, content: Any, compute: Callable[[], T], budget: Budget | None = None) -> T:
    """The result of a piece: what is kept of it, or what is computed now.

    Parameters
    ----------
    name : str
        What kind of piece it is.
    content : object
        All that the result depends on beside data, parameters and the parts that it is in.
    compute : callable
    budget : Budget or None
        Where its time ran out, the result is not complete and not kept.
    """
    place = _place.get()
    if place is None:
        return compute()
    key = (*place.names, _piece(name, content))
    if key in place.checkpoint:
        found: T = place.checkpoint.get(key, CODEC)
        return found
    started = time.perf_counter()
    result = compute()
    if _n_bytes(result) <= LARGE_BYTES or time.perf_counter() - started > WORTH_KEEPING:
        _keep(place, key, result, budget)
    return result


def _n_bytes(result: Any) -> int:
    parts = result if isinstance(result, (list, tuple)) else (result,)
    return sum(int(getattr(part, "nbytes", 0)) for part in parts)


def recall_each(
    name: str,
    content: Any,
    items: Iterable[Any],
    compute: Callable[[Iterator[Any]], Iterator[T]],
    budget: Budget | None = None,
    key_of: Callable[[Any], Any] = lambda item: item,
) -> Iterator[T]:
    """The results of pieces, one for each item, in order; those that are not kept are computed together.

    ``compute`` is given items that follow each other, and asks for no more of them than it works on.
    """
    place = _place.get()
    if place is None:
        yield from compute(iter(items))
        return
    common = digest(content, CODEC)
    keyed = (((*place.names, _piece(name, [common, key_of(item)])), item) for item in items)
    ahead: deque[tuple[Key, Any]] = deque()  # an item whose result is kept, after those that are computed

    def unknown(first: tuple[Key, Any]) -> Iterator[Any]:
        for key, item in chain([first], keyed):
            if key in place.checkpoint:
                ahead.append((key, item))
                return
            waiting.append(key)
            yield item

    while True:
        following = ahead.popleft() if ahead else next(keyed, None)
        if following is None:
            return
        if following[0] in place.checkpoint:
            yield place.checkpoint.get(following[0], CODEC)
            continue
        waiting: deque[Key] = deque()
        for result in compute(unknown(following)):
            _keep(place, waiting.popleft(), result, budget)
            yield result


def recall_set(problem: Any, columns: Any) -> float:
    """The score of a set of columns: the piece that `recall_each` makes of it, too."""
    score: float = next(recall_each("set", None, [columns], lambda some: map(problem.score_set, some)))
    return score


def remember(name: str, content: Any, result: Any) -> None:
    """Keep a result, to be asked for by its content or among all of its name."""
    place = _place.get()
    if place is not None:
        place.checkpoint.put((*place.names, _piece(name, content)), result, CODEC)


def remembered(name: str) -> list[Any]:
    """All results that were kept under a name, in this part."""
    place = _place.get()
    if place is None:
        return []
    depth, found = len(place.names), place.checkpoint.names(*place.names)
    mine = [key for key in found if len(key) == depth + 1 and key[-1].startswith(f"{name}:")]
    return [place.checkpoint.get(key, CODEC) for key in mine]


def forget(name: str, content: Any) -> None:
    """Drop what is kept of a part that is finished: its result is kept as one piece."""
    place = _place.get()
    if place is not None:
        place.checkpoint.forget(*place.names, _piece(name, content))


def _keep(place: _Place, key: Key, result: Any, budget: Budget | None) -> None:
    if budget is None or not budget.spent():
        place.checkpoint.put(key, result, CODEC)


def _piece(name: str, content: Any) -> str:
    return f"{name}:{digest(content, CODEC)}"
