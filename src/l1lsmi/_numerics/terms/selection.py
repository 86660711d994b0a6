"""Features are chosen by what their terms explain, fitted together by least squares."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from math import comb

import numpy as np
from scipy.stats import chi2

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.terms.families import Term, by_chance
from l1lsmi._numerics.terms.normal_equations import NormalEquations
from l1lsmi._numerics.terms.sums import Residuals

#: A term is certain where so many of its family would be as large without dependence, on average.
CERTAIN = 0.1
#: Added to the diagonal of Gram matrices, which are those of functions with variance 1.
RIDGE = 1e-4
#: Families of terms: four of single columns, two of pairs, one of triples.
N_FAMILIES = 7


class TermSelection:
    """Chooses features by their terms, all of which are fitted together."""

    def __init__(
        self,
        terms: list[Term],
        sizes: list[int],
        means: HostArray,
        gram: HostArray,
        joint: HostArray,
        k: int,
        *,
        n_columns: int,
        n_rows: float,
        scale: HostArray,
        held: HostArray | None = None,
        given: HostArray | None = None,
    ) -> None:
        edges = np.concatenate([[0], np.cumsum(sizes)])
        self._groups = [np.arange(start, stop) for start, stop in pairwise(edges)]
        self._terms, self._means, self._gram, self._joint = terms, means, gram, joint
        self._n_rows, self._scale, b = n_rows, scale, scale.size
        self._n_columns = n_columns
        self._chance = np.array(
            [by_chance(term.family, n_columns, size * b) for term, size in zip(terms, sizes, strict=True)]
        )
        self._certain = np.array(
            [
                by_chance(term.family._replace(false_terms=CERTAIN), n_columns, size * b)
                for term, size in zip(terms, sizes, strict=True)
            ]
        )
        #: Members of every term among the places of all terms.
        self._places = np.unique([place for term in terms for place in term.places])
        self._members = np.zeros((len(terms), self._places.size), dtype=bool)
        for t, term in enumerate(terms):
            self._members[t, np.searchsorted(self._places, term.places)] = True
        self._empty = self._equations(np.arange(len(terms)))
        self._is_single = self._members.sum(axis=1) == 1
        #: Features of every set, and terms of given features alone, which are not evidence.
        self._held = np.zeros(self._places.size, dtype=bool) if held is None else np.isin(self._places, held)
        known = np.zeros(self._places.size, dtype=bool) if given is None else np.isin(self._places, given)
        self._is_given: HostArray = np.asarray(~(self._members & ~known).any(axis=1))
        self._best = self._search(min(k, self._places.size))

    # -- the answer ------------------------------------------------------------------------

    @property
    def support(self) -> frozenset[int]:
        """Places of the features that were chosen."""
        return frozenset(int(p) for p in self._places[self._features(self._best)])

    @property
    def certain(self) -> list[int]:
        """Places of those that have a certain term."""
        found = np.zeros(self._places.size, dtype=bool)
        for t in self._best.inside:
            if self._best.loss_without([t]) > self._certain[t]:
                found |= self._members[t]
        return [int(place) for place in self._places[found]]

    @property
    def p_value(self) -> float:
        """Bound on the probability of terms as large without dependence, for all terms of all families."""
        smallest = 1.0
        for t in self._best.inside:
            if self._is_given[t]:
                continue
            degrees = self._groups[t].size * self._scale.size
            tail = float(chi2.sf(self._best.loss_without([t]), degrees))
            n_terms = max(1, comb(self._n_columns, self._terms[t].family.n_columns))
            smallest = min(smallest, N_FAMILIES * n_terms * tail)
        return smallest

    def residuals(self) -> Residuals:
        """What the terms leave of the target."""
        functions, coefficients = self._best.coefficients()
        coefficients = coefficients * self._scale / np.sqrt(self._n_rows)
        inside = tuple(self._terms[t] for t in sorted(self._best.inside))
        gram = self._gram[np.ix_(functions, functions)]
        return Residuals.of(inside, self._means[functions], coefficients, gram)

    def loss_of(self, places: frozenset[int]) -> float:
        """Unexplained share of the loss functions, for a set of features."""
        allowed = np.isin(self._places, list(places))
        usable = np.flatnonzero(~(self._members & ~allowed).any(axis=1))
        if not usable.size:
            return 1.0
        equations = self._equations(usable)
        chance = self._chance[usable]
        while len(equations.inside) < usable.size:
            net = equations.gains() - chance
            net[sorted(equations.inside)] = -np.inf
            if net.max() <= 0:
                break
            equations.enter(int(net.argmax()))
        if not equations.inside:
            return 1.0
        functions = np.concatenate([self._groups[usable[t]] for t in sorted(equations.inside)])
        gram = self._gram[np.ix_(functions, functions)] + RIDGE * np.eye(functions.size)
        joint = self._joint[functions, self._scale.size :]
        explained = float((joint * np.linalg.solve(gram, joint)).sum())
        return max(1 - explained, 0.0) / max(1 - functions.size / self._n_rows, 1e-3) ** 2

    def _equations(self, some: HostArray) -> NormalEquations:
        """Normal equations of some terms, in units in which a term without dependence is chi-squared."""
        sizes = [self._groups[t].size for t in some]
        edges = np.concatenate([[0], np.cumsum(sizes)])
        groups = [np.arange(start, stop) for start, stop in pairwise(edges)]
        functions = np.concatenate([self._groups[t] for t in some])
        joint = self._joint[functions, : self._scale.size] * np.sqrt(self._n_rows) / self._scale
        return NormalEquations(self._gram[np.ix_(functions, functions)], joint, groups, RIDGE)

    @property
    def promising(self) -> list[int]:
        """Places of the features that have terms, those with the largest ones first."""
        net = self._empty.gains() - self._chance
        best = np.where(self._members, net[:, None], -np.inf).max(axis=0)
        return [int(p) for p in self._places[np.argsort(-best, kind="stable")]]

    # -- the search ------------------------------------------------------------------------

    def _features(self, equations: NormalEquations) -> HostArray:
        """Mask of the features in some term, and of those of every set."""
        inside = sorted(equations.inside)
        return np.asarray(self._members[inside].any(axis=0) | self._held)

    def _value(self, equations: NormalEquations) -> float:
        return equations.explained - float(self._chance[sorted(equations.inside)].sum())

    def _grow(
        self,
        equations: NormalEquations,
        k: int,
        *,
        allowed: HostArray | None = None,
    ) -> None:
        """Let in terms until they have ``k`` features: the largest gain for each new feature first.

        Terms of the features inside cost no new one. Terms that gain less than chance would are let in only
        to fill up.
        """
        usable: HostArray = np.ones(len(self._terms), dtype=bool)
        if allowed is not None:
            usable = np.asarray(~(self._members & ~allowed).any(axis=1))
        while True:
            features = self._features(equations)
            n_new = (self._members & ~features).sum(axis=1)
            can = usable & (features.sum() + n_new <= k)
            can[sorted(equations.inside)] = False
            if not can.any():
                return
            net = equations.gains() - self._chance
            free, pays = can & (n_new == 0) & (net > 0), can & (n_new > 0) & (net > 0)
            if free.any():
                best = _argmax(net, free)
            elif pays.any():
                best = _argmax(net / np.maximum(n_new, 1), pays)
            elif (can & (n_new > 0)).any():
                # Some pair of many is always nearly as large as chance allows: single effects come first.
                single = can & (n_new > 0) & self._is_single
                best = _argmax(net, single if single.any() else can & (n_new > 0))
            else:
                return
            equations.enter(best)

    def _remove(self, equations: NormalEquations, feature: int) -> None:
        for t in [t for t in sorted(equations.inside) if self._members[t, feature]]:
            equations.leave(t)

    def _shrink(self, equations: NormalEquations, k: int) -> None:
        """Take out the feature without which least is lost, until ``k`` are left."""
        while (features := self._features(equations)).sum() > max(k, self._held.sum()):
            losses = []
            for feature in np.flatnonzero(features & ~self._held):
                some = [t for t in sorted(equations.inside) if self._members[t, feature]]
                losses.append((equations.loss_without(some) - self._chance[some].sum(), feature))
            self._remove(equations, int(min(losses)[1]))

    def _search(self, k: int) -> NormalEquations:
        best = self._empty.copy()
        self._grow(best, k)
        value, improved = self._value(best), True
        while improved:
            improved = False
            for other in self._neighbours(best, k):
                new = self._value(other)
                if new > value + 1e-9 * abs(value) + 1e-9:
                    best, value, improved = other, new, True
                    break
        return best

    def _neighbours(self, best: NormalEquations, k: int) -> Iterable[NormalEquations]:
        """Other sets of ``k``: a few features more and as many fewer, or without one and filled up again."""
        features = self._features(best)
        for n_more in (1, 2, 3):
            if k + n_more <= self._places.size:
                other = best.copy()
                self._grow(other, k + n_more)
                self._shrink(other, k)
                self._grow(other, k)
                yield other
        for feature in np.flatnonzero(features & ~self._held):
            other = best.copy()
            self._remove(other, int(feature))
            allowed = np.ones(self._places.size, dtype=bool)
            allowed[feature] = False
            self._grow(other, k, allowed=allowed)
            yield other


def _argmax(values: HostArray, mask: HostArray) -> int:
    return int(np.argmax(np.where(mask, values, -np.inf)))
