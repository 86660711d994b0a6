"""The set of k features whose terms explain the target best."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2

from l1lsmi._arrays import HostArray, is_non_numpy
from l1lsmi._numerics.optimization.exchanges import FeatureSet
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms import sums
from l1lsmi._numerics.terms.columns import ColumnFunctions, coded, parts_of, rows_of_rarest
from l1lsmi._numerics.terms.families import (
    INTERACTION,
    PRODUCT,
    SINGLES,
    TRIPLE,
    Family,
    Term,
    by_chance,
)
from l1lsmi._numerics.terms.normal_equations import NormalEquations
from l1lsmi._rows.table import RowTable, Table

#: Functions of the target at most.
MAX_TARGET_FUNCTIONS = 6
#: Functions of columns side by side at most, in one matrix of pairs.
MAX_WIDTH = 4_500
#: All pairs of so many columns are looked at; of more columns, three quarters of these have the strongest
#: single terms, and the others are drawn at random.
MAX_PAIR_COLUMNS = 3_000
#: With fewer rows than half of that, twice as many as there are rows, but at least so many.
FEWEST_PAIR_COLUMNS = 300
#: Columns whose interactions of all shapes are looked at where there are too many columns for that.
MAX_SHAPED = 300
#: Operations that one pass over pairs may take, on a processor and on a device.
MAX_OPERATIONS = 2e12
MAX_DEVICE_OPERATIONS = 2e14
#: Columns, and operations, up to which triples are looked at.
MAX_TRIPLE_COLUMNS = 200
MAX_TRIPLE_OPERATIONS = 2e11
#: A term has at most one function for so many rows of the rarest class; trends excepted.
ROWS_PER_FUNCTION = 10
#: A term is certain where so many of its family would be as large without dependence, on average.
CERTAIN = 0.1
#: A column of which one value has a larger share is sparse, and has an effect of its own if one as large has
#: this probability without dependence.
SPARSE = 0.9
EFFECT = 0.01
#: Candidates of every family.
N_SINGLES = 60
N_PAIRS = 30
#: Of these, so many at least, and others whose size is not further below chance than this.
N_LEAST = 5
FAR_BELOW = 6.0
#: Added to the diagonal of Gram matrices, which are those of functions with variance 1.
RIDGE = 1e-4
#: Rounds of looking at what the terms so far do not explain.
MAX_ROUNDS = 3


class PairSizes(NamedTuple):
    """Sizes of terms of pairs of some columns, and their degrees of freedom, (columns, columns) each."""

    places: HostArray
    product: HostArray
    product_degrees: HostArray
    interaction: HostArray
    interaction_degrees: HostArray


class TermSearch:
    """Terms of a table and a target, and searches among them.

    Parameters
    ----------
    table : RowTable
    target : Target
    columns : numpy.ndarray of int
        Columns to look at.
    rng : numpy.random.Generator
        Draws some of the columns that are paired, where there are many.
    loss_functions : numpy.ndarray of shape (n, q) or None
        Functions of the target whose variances add up to 1, which `loss_of` is measured on.
    """

    def __init__(
        self,
        table: RowTable,
        target: Target,
        columns: HostArray,
        rng: np.random.Generator,
        loss_functions: HostArray | None = None,
    ) -> None:
        functions = ColumnFunctions.of(table, target, columns)
        self.functions = functions.take(np.flatnonzero(functions.sizes > 0))
        self.table = coded(table, self.functions)
        self._rng = rng
        self._on_device = isinstance(table, Table) and is_non_numpy(table.x)
        weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
        self._weight, self._squared_weight = float(weights.sum()), float((weights**2).sum())
        psi = target_functions(target)
        self.n_responses = psi.shape[1]
        losses = np.empty((target.n_rows, 0)) if loss_functions is None else loss_functions
        self.target = Target(
            np.zeros(target.n_rows, dtype=np.intp),
            np.hstack([psi, losses]),
            row_weights=target.row_weights,
        )
        self._means = weights @ self.target.columns / self._weight
        # With few rows of a class, sums over them are not normal.
        self._max_size = int(rows_of_rarest(target) / ROWS_PER_FUNCTION)
        self._bind_target()
        self._selection: TermSelection | None = None
        self._losses: dict[FeatureSet, float] = {}

    def _bind_target(self) -> None:
        self._parts: Any = parts_of(self.table, self.target)

    @property
    def n_columns(self) -> int:
        """Columns that have functions."""
        return int(self.functions.columns.size)

    @property
    def max_pair_columns(self) -> int:
        """All pairs of so many columns are looked at; of more, those with strong single terms and others.

        Few rows do not tell the effect of a pair from the largest ones of millions of others.
        """
        most = min(MAX_PAIR_COLUMNS, max(FEWEST_PAIR_COLUMNS, 2 * self.table.n_rows))
        return min(most, self._max_width())

    def _max_width(self) -> int:
        """Functions side by side in one matrix of pairs, three of which are in memory at a time."""
        limit = self.table.resources.memory_limit
        if limit is None:
            return MAX_WIDTH
        return max(2, min(MAX_WIDTH, int(np.sqrt(limit / (32 * self.n_responses)))))

    @property
    def certain(self) -> FeatureSet:
        """Features of the set that was found with a term that is much larger than by chance."""
        if self._selection is None:
            return ()
        return tuple(int(self.functions.columns[place]) for place in self._selection.certain)

    # -- sizes of terms --------------------------------------------------------------------

    def none_fitted(self) -> sums.Residuals:
        """The functions of the target themselves."""
        b = self.n_responses
        return sums.Residuals((), np.empty(0), np.empty((0, b)), np.ones(b))

    def single_sizes(self, fit: sums.Residuals) -> HostArray:
        """Sizes of single terms of one function each, (m, functions)."""
        inside = self._parts.sum(sums.single_sums, self.functions, fit, columns=self.functions.columns)
        joint = np.einsum("mka,mkb->mab", self.functions.values, inside)
        return np.asarray((joint**2).sum(axis=2) / self._squared_weight)

    def pair_sizes(self, fit: sums.Residuals, layout: sums.Layout, parts: Any = None) -> PairSizes:
        """Sizes of terms of pairs of columns."""
        found = (self._parts if parts is None else parts).sum(
            sums.pair_sums, self.functions, layout, fit, columns=self.functions.columns
        )
        squares = (found**2).sum(axis=0) / self._squared_weight
        places, b = layout.places[0], self.n_responses
        total, counts = np.zeros((places.size, places.size)), np.zeros(places.size, dtype=np.intp)
        edges = np.concatenate([[0], np.cumsum([some.size for some in layout.places])]).astype(np.intp)
        inside = [np.searchsorted(places, some) for some in layout.places]
        for a, rows in enumerate(inside):
            counts[rows] += 1
            for c, columns in enumerate(inside):
                total[np.ix_(rows, columns)] += squares[edges[a] : edges[a + 1], edges[c] : edges[c + 1]]
        product = squares[: places.size, : places.size]
        degrees = np.outer(counts, counts) * b
        lead = np.minimum(degrees, b)
        return PairSizes(places, product, lead, total - product, degrees - lead)

    def _single_candidates(self, fit: sums.Residuals, k: int) -> tuple[list[Candidate], HostArray]:
        sizes = self.single_sizes(fit)
        found, strongest = [], np.full(self.n_columns, -np.inf)
        for family in SINGLES:
            counts = np.clip(self.functions.sizes, family.first, family.last) - family.first
            total = sizes[:, family.first : family.last].sum(axis=1)
            net = np.full(self.n_columns, -np.inf)
            for d in np.unique(counts[(counts > 0) & (counts <= max(1, self._max_size))]):
                some = counts == d
                net[some] = total[some] - by_chance(family, self.n_columns, int(d) * self.n_responses)
            strongest = np.maximum(strongest, net)
            best = _largest(net, max(N_SINGLES, 4 * k))
            found += [Candidate(float(net[j]), Term((int(j),), family)) for j in best if np.isfinite(net[j])]
        found.sort(key=lambda candidate: -candidate.net)
        return _worth_fitting(found[: max(N_SINGLES, 4 * k)], 2 * k + N_LEAST), strongest

    def possible_columns(self) -> HostArray:
        """Columns that may matter: all but those that mostly have one value and no effect by themselves.

        A value that few rows have can explain any target in these rows, by chance, beside other columns.
        """
        found = np.ones(self.n_columns, dtype=bool)
        sparse = np.flatnonzero(self.functions.largest_share > SPARSE)
        if sparse.size:
            trends = self.single_sizes(self.none_fitted())[sparse, 0]
            found[sparse] = trends > chi2.isf(EFFECT, self.n_responses)
        return self.functions.columns[found]

    def all_pair_sizes(self, fit: sums.Residuals, strongest: HostArray) -> list[PairSizes]:
        """Sizes of all pairs that are looked at: those of trends, then of all shapes, or both at once."""
        return [self.pair_sizes(fit, layout, parts) for layout, parts in self._layouts(strongest)]

    def size_of(self, term: Term) -> int:
        """Number of functions of a term."""
        return sums.size_of(self.functions, term)

    def fitted(self, terms: list[Term]) -> sums.Residuals:
        """What least squares on some terms leaves of the functions of the target."""
        means, gram, joint = self._centred_sums(terms)
        joint = joint[:, : self.n_responses]
        coefficients = np.linalg.solve(gram + RIDGE * np.eye(len(gram)), joint)
        explained = np.einsum("db,de,eb->b", coefficients, gram, coefficients)
        return sums.Residuals(tuple(terms), means, coefficients, np.sqrt(np.maximum(1 - explained, 1e-6)))

    def _pair_candidates(self, fit: sums.Residuals, strongest: HostArray) -> list[Candidate]:
        found: list[Candidate] = []
        for sizes in self.all_pair_sizes(fit, strongest):
            found += self._best_pairs(PRODUCT, sizes.places, sizes.product, sizes.product_degrees)
            found += self._best_pairs(INTERACTION, sizes.places, sizes.interaction, sizes.interaction_degrees)
        return list({candidate.term: candidate for candidate in found}.values())

    def _layouts(self, strongest: HostArray) -> list[tuple[sums.Layout, Any]]:
        """Which functions of which columns are paired, and on which rows: as many as can be afforded."""
        paired = np.flatnonzero(self.functions.n_pair_functions)
        if paired.size < 2:
            return []
        full = sums.Layout.of(self.functions, paired, 10)
        if (
            paired.size <= self.max_pair_columns
            and full.width <= self._max_width()
            and self._operations(full.width) <= self._most_operations()
        ):
            return [(full, None)]
        order = paired[np.argsort(-strongest[paired], kind="stable")]
        most = self.max_pair_columns
        if paired.size > most:
            n_strongest = 3 * most // 4
            others = self._rng.permutation(order[n_strongest:])[: most - n_strongest]
            paired = np.sort(np.concatenate([order[:n_strongest], others]))
        trends = sums.Layout.of(self.functions, paired, 1)
        n_shaped = min(MAX_SHAPED, self._max_width() // int(self.functions.n_pair_functions.max()))
        shaped = sums.Layout.of(self.functions, np.sort(order[:n_shaped]), 10)
        both = [layout for layout in (trends, shaped) if layout.width > 1]
        return [(layout, self._affordable(layout.width)) for layout in both]

    def _operations(self, width: int) -> float:
        return float(2.0 * self.table.n_rows * width**2 * self.n_responses)

    def _most_operations(self) -> float:
        return MAX_DEVICE_OPERATIONS if self._on_device else MAX_OPERATIONS

    def _affordable(self, width: int) -> Any:
        """All rows, or a sample of those in memory that can be afforded."""
        share = self._most_operations() / self._operations(width)
        if share >= 1 or not isinstance(self.table, Table):
            return None
        n_rows = int(share * self.table.n_rows)
        rows = np.sort(np.random.default_rng(0).choice(self.table.n_rows, n_rows, replace=False))
        return parts_of(self.table.rows_of(rows), self.target.rows_of(rows))

    def _best_pairs(
        self, family: Family, places: HostArray, sizes: HostArray, degrees: HostArray
    ) -> list[Candidate]:
        rows, columns = np.triu_indices(places.size, 1)
        sizes, degrees = sizes[rows, columns], degrees[rows, columns]
        net = np.full(sizes.size, -np.inf)
        for d in np.unique(degrees[(degrees > 0) & (degrees <= self._max_size * self.n_responses // 2)]):
            some = degrees == d
            net[some] = sizes[some] - by_chance(family, self.n_columns, int(d))
        found = [
            Candidate(float(net[i]), Term((int(places[rows[i]]), int(places[columns[i]])), family))
            for i in _largest(net, N_PAIRS)
            if np.isfinite(net[i])
        ]
        return _worth_fitting(found, N_LEAST)

    def _triple_candidates(self, fit: sums.Residuals) -> list[Candidate]:
        places = np.flatnonzero(self.functions.n_pair_functions)
        m = places.size
        operations = 2.0 / 3 * self.table.n_rows * m**3 * self.n_responses
        few = self._max_size < 4 or not 3 <= m <= MAX_TRIPLE_COLUMNS
        if few or operations > MAX_TRIPLE_OPERATIONS:
            return []
        arguments = (self.functions, places, fit)
        found = self._parts.sum(sums.triple_sums, *arguments, columns=self.functions.columns)
        rows, columns = np.triu_indices(m, 1)
        sizes = ((found[:, :, rows, columns] ** 2).sum(axis=0) / self._squared_weight).ravel()
        threshold = by_chance(TRIPLE, m, self.n_responses)
        candidates = []
        for i in _largest(sizes, N_PAIRS):
            j, pair = divmod(int(i), rows.size)
            three = tuple(int(places[p]) for p in (j, rows[pair], columns[pair]))
            candidates.append(Candidate(float(sizes[i]) - threshold, Term(three, TRIPLE)))
        return candidates

    # -- search ----------------------------------------------------------------------------

    def search(self, k: int, out_of_time: Callable[[], bool] = lambda: False) -> FeatureSet | None:
        """The set of at most ``k`` features whose terms explain most, beyond what chance would.

        Columns that depend on each other have terms in common: candidates are fitted together, features are
        exchanged one or two at a time, and what is left unexplained is looked at once more. None where no
        column has terms.

        Parameters
        ----------
        k : int
        out_of_time : callable
            Called before every further round.
        """
        if self.n_columns == 0:
            return None
        self._reduce_target()
        fit, pool, triples = self.none_fitted(), dict[Term, None](), False
        selection: TermSelection | None = None
        # With few rows what is left unexplained is mostly noise.
        for number in range(MAX_ROUNDS if self.table.n_rows >= self.n_columns else 1):
            if number > 0 and out_of_time():
                break
            candidates, strongest = self._single_candidates(fit, k)
            candidates += self._pair_candidates(fit, strongest)
            if number > 0 and not triples:
                # Once what singles and pairs explain is taken out.
                candidates += self._triple_candidates(fit)
                triples = True
            new = [c.term for c in candidates if c.term not in pool and (number == 0 or c.net > 0)]
            if number > 0 and not new:
                break
            pool.update(dict.fromkeys(new))
            before = None if selection is None else selection.support
            selection = self._select(list(pool), k, fit.scale)
            fit = selection.residuals()
            if selection.support == before:
                break
        self._selection = selection
        assert selection is not None
        return tuple(sorted(int(self.functions.columns[place]) for place in selection.support))

    def _reduce_target(self) -> None:
        """Of many classes, keep the contrasts that single columns explain best."""
        if self.n_responses <= MAX_TARGET_FUNCTIONS:
            return
        inside = self._parts.sum(
            sums.single_sums, self.functions, self.none_fitted(), columns=self.functions.columns
        )
        joint = np.einsum("mka,mkb->mab", self.functions.values[:, :, :3], inside).reshape(
            -1, self.n_responses
        )
        leading = np.linalg.svd(joint, full_matrices=False)[2][:MAX_TARGET_FUNCTIONS].T
        values = self.target.columns
        reduced = np.hstack([values[:, : self.n_responses] @ leading, values[:, self.n_responses :]])
        self._means = np.concatenate(
            [self._means[: self.n_responses] @ leading, self._means[self.n_responses :]]
        )
        self.target = replace(self.target, values=reduced)
        self.n_responses = leading.shape[1]
        self._bind_target()

    def _select(self, terms: list[Term], k: int, scale: HostArray) -> TermSelection:
        """Fit terms together, and choose among them."""
        return TermSelection(
            terms,
            [self.size_of(term) for term in terms],
            *self._centred_sums(terms),
            k,
            n_columns=self.n_columns,
            n_rows=self._weight**2 / self._squared_weight,
            scale=scale,
        )

    def _centred_sums(self, terms: list[Term]) -> tuple[HostArray, HostArray, HostArray]:
        """Means of the functions of terms, their covariances, and those with the functions of the target."""
        used = np.unique([place for term in terms for place in term.places])
        functions = self.functions.take(used)
        renamed = tuple(Term(tuple(np.searchsorted(used, t.places).tolist()), t.family) for t in terms)
        found = self._parts.sum(sums.gram_sums, functions, renamed, columns=functions.columns)
        means = found.sums / self._weight
        gram = found.gram / self._weight - np.outer(means, means)
        return means, gram, (found.joint - np.outer(found.sums, self._means)) / self._weight

    def promising(self, n: int) -> FeatureSet:
        """Features with the largest terms, after a search."""
        if self._selection is None:
            return ()
        return tuple(int(self.functions.columns[place]) for place in self._selection.promising[:n])

    # -- losses ----------------------------------------------------------------------------

    def loss_of(self, support: FeatureSet) -> float:
        """Share of the variance of the loss functions that the terms of a set leave unexplained.

        Corrected for the number of functions that are fitted (generalised cross-validation). Nan
        before a search, or without loss functions.
        """
        if self._selection is None or self.target.columns.shape[1] == self.n_responses:
            return np.nan
        if support not in self._losses:
            places = np.searchsorted(self.functions.columns, support)
            inside = places < self.n_columns
            places = places[inside]
            places = places[self.functions.columns[places] == np.array(support)[inside]]
            self._losses[support] = self._selection.loss_of(frozenset(int(p) for p in places))
        return self._losses[support]


class Candidate(NamedTuple):
    """A term, and its size beyond what chance would give."""

    net: float
    term: Term


def _worth_fitting(candidates: list[Candidate], least: int) -> list[Candidate]:
    """Candidates, which are sorted, that are not far below chance, and so many at least."""
    return [c for i, c in enumerate(candidates) if i < least or c.net > -FAR_BELOW]


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
    ) -> None:
        edges = np.concatenate([[0], np.cumsum(sizes)])
        self._groups = [np.arange(start, stop) for start, stop in pairwise(edges)]
        self._terms, self._means, self._gram, self._joint = terms, means, gram, joint
        self._n_rows, self._scale, b = n_rows, scale, scale.size
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

    def residuals(self) -> sums.Residuals:
        """What the terms leave of the target."""
        functions, coefficients = self._best.coefficients()
        coefficients = coefficients * self._scale / np.sqrt(self._n_rows)
        explained = np.einsum(
            "db,de,eb->b", coefficients, self._gram[np.ix_(functions, functions)], coefficients
        )
        inside = tuple(self._terms[t] for t in sorted(self._best.inside))
        left = np.sqrt(np.maximum(1 - explained, 1e-6))
        return sums.Residuals(inside, self._means[functions], coefficients, left)

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
        """Mask of the features in some term."""
        inside = sorted(equations.inside)
        return np.asarray(self._members[inside].any(axis=0))

    def _value(self, equations: NormalEquations) -> float:
        return equations.explained - float(self._chance[sorted(equations.inside)].sum())

    def _grow(
        self,
        equations: NormalEquations,
        k: int,
        *,
        allowed: HostArray | None = None,
        fill: bool = True,
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
            elif fill and (can & (n_new > 0)).any():
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
        while (features := self._features(equations)).sum() > k:
            losses = []
            for feature in np.flatnonzero(features):
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
        for feature in np.flatnonzero(features):
            other = best.copy()
            self._remove(other, int(feature))
            allowed = np.ones(self._places.size, dtype=bool)
            allowed[feature] = False
            self._grow(other, k, allowed=allowed)
            yield other


def target_functions(target: Target) -> HostArray:
    """Orthonormal functions of the target with mean 0, (n, b): contrasts of classes, or ranks."""
    weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
    if target.is_classification:
        shares = target.class_shares()
        roots = np.sqrt(shares)
        # The first column is the constant function.
        basis = np.linalg.qr(np.column_stack([roots, np.diag(roots)[:, :-1]]))[0]
        return np.asarray((basis[:, 1:] / np.maximum(roots, 1e-300)[:, None])[target.codes])
    ranks = np.column_stack([_middle_ranks(column, weights) for column in target.columns.T])
    ranks = (ranks - weights @ ranks / weights.sum()) * np.ones(1)
    covariance = ranks.T @ (ranks * weights[:, None]) / weights.sum()
    values, vectors = np.linalg.eigh(covariance)
    leading = np.flatnonzero(values > 1e-8 * values[-1])[::-1][:MAX_TARGET_FUNCTIONS]
    return np.asarray(ranks @ (vectors[:, leading] / np.sqrt(values[leading])))


def _middle_ranks(values: HostArray, weights: HostArray) -> HostArray:
    """Share of the rows below each value, and half of those that have it."""
    _, places = np.unique(values, return_inverse=True)
    shares = np.bincount(places.ravel(), weights) / weights.sum()
    return np.asarray((np.cumsum(shares) - shares / 2)[places.ravel()])


def _largest(values: HostArray, n: int) -> HostArray:
    """Places of the largest values, the largest first, ties in order."""
    some = np.sort(np.argpartition(-values, n)[:n]) if values.size > n else np.arange(values.size)
    return np.asarray(some[np.argsort(-values[some], kind="stable")])


def _argmax(values: HostArray, mask: HostArray) -> int:
    return int(np.argmax(np.where(mask, values, -np.inf)))
