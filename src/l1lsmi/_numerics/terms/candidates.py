"""Terms that a set may be made of, the largest first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.terms.families import Term

#: Terms whose size is further below chance than this are not worth fitting.
FAR_BELOW = 6.0


class Candidate(NamedTuple):
    """A term, and its size beyond what chance would give."""

    net: float
    term: Term


def worth_fitting(candidates: list[Candidate], least: int) -> list[Candidate]:
    """Candidates, which are sorted, that are not far below chance, and so many at least."""
    return [c for i, c in enumerate(candidates) if i < least or c.net > -FAR_BELOW]


def largest(values: HostArray, n: int) -> HostArray:
    """Places of the largest values, the largest first, ties in order."""
    some = np.sort(np.argpartition(-values, n)[:n]) if values.size > n else np.arange(values.size)
    return np.asarray(some[np.argsort(-values[some], kind="stable")])
