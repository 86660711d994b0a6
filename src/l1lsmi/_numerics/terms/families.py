"""Which terms there are, and how large they are by chance."""

from __future__ import annotations

from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from l1lsmi._arrays import HostArray


class Family(NamedTuple):
    """Terms of one kind.

    Attributes
    ----------
    n_columns : int
        Columns in a term.
    first, last : int
        Which functions: of a single column those from ``first`` to before ``last``; of several columns the
        products of the first functions alone (0, 1), or all other products (1, 0).
    false_terms : float
        How many terms of the family may be taken for effects where there are none, on average. Smooth
        single effects are more frequent than others, and a family with many terms must be surer of each.
    """

    n_columns: int
    first: int
    last: int
    false_terms: float


#: Single effects: a trend, a bend, and finer shapes.
TREND = Family(1, 0, 1, 1.0)
BEND = Family(1, 1, 3, 0.25)
FINE = Family(1, 3, 8, 0.03)
FINEST = Family(1, 8, 16, 0.01)
SINGLES = (TREND, BEND, FINE, FINEST)
#: A product of trends, and other interactions of two columns.
PRODUCT = Family(2, 0, 1, 0.2)
INTERACTION = Family(2, 1, 0, 0.03)
#: A product of the trends of three columns.
TRIPLE = Family(3, 0, 1, 0.1)


class Term(NamedTuple):
    """Some functions of one, two or three columns; the columns are places among those that have functions."""

    places: tuple[int, ...]
    family: Family


@lru_cache(maxsize=4096)
def by_chance(family: Family, n_columns: int, degrees: int) -> float:
    """Size of a term beyond which ``false_terms`` of the family are expected without any dependence."""
    n_terms = max(1, comb(n_columns, family.n_columns))
    return float(chi2.isf(min(0.5, family.false_terms / n_terms), max(degrees, 1)))


def z_scores(sizes: HostArray, degrees: HostArray) -> HostArray:
    """Normal quantiles that are as far out as chi-squared values (Wilson and Hilferty, 1931)."""
    degrees = np.maximum(degrees, 1)
    spread = 2 / (9 * degrees)
    return np.asarray((np.cbrt(sizes / degrees) - (1 - spread)) / np.sqrt(spread))
