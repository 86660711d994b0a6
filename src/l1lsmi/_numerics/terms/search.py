"""The set of k features whose terms explain the target best."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.stats import chi2

from l1lsmi._arrays import HostArray, is_non_numpy
from l1lsmi._clock import OutOfTimeError
from l1lsmi._numerics.optimization.exchanges import FeatureSet
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms import sums
from l1lsmi._numerics.terms.candidates import Candidate, largest, worth_fitting
from l1lsmi._numerics.terms.columns import (
    N_FUNCTIONS,
    ColumnFunctions,
    coded,
    parts_of,
    rows_of_rarest,
    without_rare,
)
from l1lsmi._numerics.terms.families import (
    INTERACTION,
    PRODUCT,
    SINGLES,
    TRIPLE,
    Family,
    Term,
    by_chance,
)
from l1lsmi._numerics.terms.selection import RIDGE, TermSelection
from l1lsmi._numerics.terms.target_functions import MAX_TARGET_FUNCTIONS, target_functions
from l1lsmi._rows.table import RowTable, Table

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
#: Sums over rows that are in memory at a time, for all functions of the target.
MAX_PAIR_SUMS = 2**25
#: Columns, and operations, up to which triples are looked at.
MAX_TRIPLE_COLUMNS = 200
MAX_TRIPLE_OPERATIONS = 2e11
#: A term has at most one function for so many rows of the rarest class; trends excepted.
ROWS_PER_FUNCTION = 10
#: A column of which one value has a larger share is sparse, and has an effect of its own if one as large has
#: this probability without dependence.
SPARSE = 0.9
EFFECT = 0.01
#: Candidates of every family.
N_SINGLES = 60
N_PAIRS = 30
#: Of these, so many at least, and others that are worth fitting.
N_LEAST = 5
#: Rounds of looking at what the terms so far do not explain.
MAX_ROUNDS = 3
#: Rows from which on sums over them are taken for normal, far out.
NORMAL_ROWS = 500

Recall: TypeAlias = Callable[[str, Any, Callable[[], Any]], Any]


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
    recall : callable
        ``recall(name, content, compute)`` gives what is known of a sum over all rows, or computes it.
    n_functions : int
        Functions of a column at most.
    """

    def __init__(
        self,
        table: RowTable,
        target: Target,
        columns: HostArray,
        rng: np.random.Generator,
        loss_functions: HostArray | None = None,
        recall: Recall = lambda name, content, compute: compute(),
        n_functions: int = N_FUNCTIONS,
    ) -> None:
        self._recall = recall
        target = without_rare(target)
        functions = ColumnFunctions.of(table, target, columns, n_functions)
        self.functions = functions.take(np.flatnonzero(functions.sizes > 0))
        self.table = coded(table, self.functions)
        self._rng = rng
        self._on_device = isinstance(table, Table) and is_non_numpy(table.x)
        weights = np.ones(target.n_rows) if target.row_weights is None else target.row_weights
        self._weight, self._squared_weight = float(weights.sum()), float((weights**2).sum())
        psi = target_functions(target)
        self._are_values = not target.is_classification
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
        self._unfitted_sizes: HostArray | None = None
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
        # As much memory for many functions of the target as for a few.
        most = int(MAX_WIDTH * min(1.0, np.sqrt(MAX_TARGET_FUNCTIONS / self.n_responses)))
        limit = self.table.resources.memory_limit
        if limit is None:
            return most
        return max(2, min(most, int(np.sqrt(limit / (32 * self.n_responses)))))

    @property
    def certain(self) -> FeatureSet:
        """Features of the set that was found with a term that is much larger than by chance."""
        if self._selection is None:
            return ()
        return tuple(int(self.functions.columns[place]) for place in self._selection.certain)

    @property
    def p_value(self) -> float:
        """Upper bound on the probability of terms as large as those found, without dependence.

        1 before a search, and with so few rows that sums over them are not normal.
        """
        if self._selection is None or self.table.n_rows < NORMAL_ROWS:
            return 1.0
        return self._selection.p_value

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

    def pair_sizes(self, fit: sums.Residuals, layout: sums.Layout) -> PairSizes:
        """Sizes of terms of pairs of columns; on a sample of the rows where all take too long."""
        parts, squared_weight = self._affordable_rows(layout.width)
        squares = self._pair_squares(parts, fit, layout) / squared_weight
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

    def _pair_squares(self, parts: Any, fit: sums.Residuals, layout: sums.Layout) -> HostArray:
        """Sums over the functions of the target of squared sums over rows, (w, w); large ones one by one."""
        b = self.n_responses
        at_once = b * layout.width**2 <= MAX_PAIR_SUMS
        total: Any = 0.0
        for some in [slice(0, b)] if at_once else [slice(i, i + 1) for i in range(b)]:
            arguments = (self.functions, layout, fit, some)
            found = parts.sum(sums.pair_sums, *arguments, columns=self.functions.columns)
            total = total + (found**2).sum(axis=0)
        return np.asarray(total)

    def _single_candidates(self, fit: sums.Residuals, k: int) -> tuple[list[Candidate], HostArray, HostArray]:
        """Candidates, and for each column the size beyond chance of its strongest term and of its trend."""
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
            best = largest(net, max(N_SINGLES, 4 * k))
            found += [Candidate(float(net[j]), Term((int(j),), family)) for j in best if np.isfinite(net[j])]
        found.sort(key=lambda candidate: -candidate.net)
        best_found = worth_fitting(found[: max(N_SINGLES, 4 * k)], 2 * k + N_LEAST)
        return best_found, strongest, sizes[:, 0]

    def possible_columns(self) -> HostArray:
        """After a search, columns that may matter: all but those with mostly one value and no effect.

        A value that few rows have can explain any target in these rows, by chance, beside other columns.
        """
        found = np.ones(self.n_columns, dtype=bool)
        sparse = np.flatnonzero(self.functions.largest_share > SPARSE)
        if sparse.size:
            assert self._unfitted_sizes is not None, "after a search"
            found[sparse] = self._unfitted_sizes[sparse] > chi2.isf(EFFECT, self.n_responses)
        return self.functions.columns[found]

    def all_pair_sizes(self, fit: sums.Residuals, strongest: HostArray) -> list[PairSizes]:
        """Sizes of all pairs that are looked at: those of trends, then of all shapes, or both at once."""
        return [self.pair_sizes(fit, layout) for layout in self._layouts(strongest)]

    def size_of(self, term: Term) -> int:
        """Number of functions of a term."""
        return sums.size_of(self.functions, term)

    def fitted(self, terms: list[Term]) -> sums.Residuals:
        """What least squares on some terms leaves of the functions of the target."""
        means, gram, joint = self._centred_sums(terms)
        joint = joint[:, : self.n_responses]
        coefficients = np.linalg.solve(gram + RIDGE * np.eye(len(gram)), joint)
        return sums.Residuals.of(tuple(terms), means, coefficients, gram)

    def fitted_to_singles(self, columns: HostArray) -> sums.Residuals:
        """What least squares on the single terms of some columns leaves of the functions of the target."""
        terms = [candidate.term for candidate in self._single_terms_of(columns)]
        return self.fitted(terms) if terms else self.none_fitted()

    def _pair_candidates(self, fit: sums.Residuals, layouts: list[sums.Layout]) -> list[Candidate]:
        found: list[Candidate] = []
        for sizes in (self.pair_sizes(fit, layout) for layout in layouts):
            found += self._best_pairs(PRODUCT, sizes.places, sizes.product, sizes.product_degrees)
            found += self._best_pairs(INTERACTION, sizes.places, sizes.interaction, sizes.interaction_degrees)
        return list({candidate.term: candidate for candidate in found}.values())

    def _layouts(self, strongest: HostArray) -> list[sums.Layout]:
        """Which functions of which columns are paired: as many as can be afforded."""
        paired = np.flatnonzero(self.functions.n_pair_functions)
        if paired.size < 2:
            return []
        full = sums.Layout.of(self.functions, paired, 10)
        if (
            paired.size <= self.max_pair_columns
            and full.width <= self._max_width()
            and self._operations(full.width) <= self._most_operations()
        ):
            return [full]
        order = paired[np.argsort(-strongest[paired], kind="stable")]
        most = self.max_pair_columns
        if paired.size > most:
            n_strongest = 3 * most // 4
            others = self._rng.permutation(order[n_strongest:])[: most - n_strongest]
            paired = np.sort(np.concatenate([order[:n_strongest], others]))
        trends = sums.Layout.of(self.functions, paired, 1)
        n_shaped = min(MAX_SHAPED, self._max_width() // int(self.functions.n_pair_functions.max()))
        shaped = sums.Layout.of(self.functions, np.sort(order[:n_shaped]), 10)
        return [layout for layout in (trends, shaped) if layout.width > 1]

    def _operations(self, width: int) -> float:
        return float(2.0 * self.table.n_rows * width**2 * self.n_responses)

    def _most_operations(self) -> float:
        return MAX_DEVICE_OPERATIONS if self._on_device else MAX_OPERATIONS

    def _affordable_rows(self, width: int) -> tuple[Any, float]:
        """All rows, or a sample of those in memory, and the sum of their squared weights."""
        share = self._most_operations() / self._operations(width)
        if share >= 1 or not isinstance(self.table, Table):
            return self._parts, self._squared_weight
        n_rows = int(share * self.table.n_rows)
        rows = np.sort(np.random.default_rng(0).choice(self.table.n_rows, n_rows, replace=False))
        some = self.target.rows_of(rows)
        squared_weight = float(n_rows) if some.row_weights is None else float((some.row_weights**2).sum())
        return parts_of(self.table.rows_of(rows), some), squared_weight

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
            for i in largest(net, N_PAIRS)
            if np.isfinite(net[i])
        ]
        return worth_fitting(found, N_LEAST)

    def _triple_candidates(self, fit: sums.Residuals) -> list[Candidate]:
        places = np.flatnonzero(self.functions.n_pair_functions)
        m = places.size
        operations = 2.0 / 3 * self.table.n_rows * m**3 * self.n_responses
        few = self._max_size < 4 or not 3 <= m <= MAX_TRIPLE_COLUMNS
        many = m**3 * self.n_responses > MAX_TRIPLE_COLUMNS**3 * MAX_TARGET_FUNCTIONS
        if few or many or operations > MAX_TRIPLE_OPERATIONS:
            return []
        arguments = (self.functions, places, fit)
        found = self._parts.sum(sums.triple_sums, *arguments, columns=self.functions.columns)
        rows, columns = np.triu_indices(m, 1)
        sizes = ((found[:, :, rows, columns] ** 2).sum(axis=0) / self._squared_weight).ravel()
        threshold = by_chance(TRIPLE, m, self.n_responses)
        candidates = []
        for i in largest(sizes, N_PAIRS):
            j, pair = divmod(int(i), rows.size)
            three = tuple(int(places[p]) for p in (j, rows[pair], columns[pair]))
            candidates.append(Candidate(float(sizes[i]) - threshold, Term(three, TRIPLE)))
        return candidates

    # -- search ----------------------------------------------------------------------------

    def search(
        self,
        k: int,
        out_of_time: Callable[[], bool] = lambda: False,
        held: HostArray | None = None,
        given: HostArray | None = None,
    ) -> FeatureSet | None:
        """The set of at most ``k`` features whose terms explain most, beyond what chance would.

        Columns that depend on each other have terms in common: candidates are fitted together, features are
        exchanged one or two at a time, and what is left unexplained is looked at once more. None where no
        column has terms.

        Parameters
        ----------
        k : int
        out_of_time : callable
            Called before every further round.
        held : numpy.ndarray of int or None
            Features of every set, which count among the ``k``.
        given : numpy.ndarray of int or None
            Those of them whose own effects are not evidence of dependence: covariates.
        """
        if self.n_columns == 0:
            return None
        self._reduce_target()
        fit, pool, triples = self.none_fitted(), dict[Term, None](), False
        selection: TermSelection | None = None
        candidates: list[Candidate] = []
        try:
            # With few rows what is left unexplained is mostly noise.
            for number in range(MAX_ROUNDS if self.table.n_rows >= self.n_columns else 1):
                if number > 0 and out_of_time():
                    break
                of_round = [k, held, given, number]
                candidates, strongest, sizes = self._recall(
                    "single terms", of_round, partial(self._single_candidates, fit, k)
                )
                if number == 0:
                    self._unfitted_sizes = sizes
                    candidates += [] if held is None else self._single_terms_of(held)
                # Columns are drawn also where their terms are known: the next round draws the same ones.
                layouts = self._layouts(strongest)
                of_pairs = partial(self._pair_candidates, fit, layouts)
                candidates += self._recall("terms of pairs", of_round, of_pairs)
                if number > 0 and not triples:
                    # Once what singles and pairs explain is taken out.
                    of_triples = partial(self._triple_candidates, fit)
                    candidates += self._recall("terms of triples", of_round, of_triples)
                    triples = True
                new = [c.term for c in candidates if c.term not in pool and (number == 0 or c.net > 0)]
                if number > 0 and not new:
                    break
                pool.update(dict.fromkeys(new))
                before = None if selection is None else selection.support
                selection = self._select(list(pool), k, fit.scale, held, given)
                fit = selection.residuals()
                if selection.support == before:
                    break
        except OutOfTimeError:
            if not candidates:
                raise
            if selection is None:
                return self._largest_singles(candidates, k)
        self._selection = selection
        assert selection is not None
        return tuple(sorted(int(self.functions.columns[place]) for place in selection.support))

    def _largest_singles(self, candidates: list[Candidate], k: int) -> FeatureSet:
        """Features of the largest terms of single columns, the first ``k``."""
        places = dict.fromkeys(c.term.places[0] for c in candidates if len(c.term.places) == 1)
        return tuple(sorted(int(self.functions.columns[place]) for place in list(places)[:k]))

    def _reduce_target(self) -> None:
        """Of many classes, keep the contrasts that single columns explain best."""
        if self._are_values or self.n_responses <= MAX_TARGET_FUNCTIONS:
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

    def _places_of(self, columns: HostArray | None) -> HostArray | None:
        return None if columns is None else np.flatnonzero(np.isin(self.functions.columns, columns))

    def _single_terms_of(self, columns: HostArray) -> list[Candidate]:
        """All terms of some single columns that have functions enough, however small they are."""
        places = self._places_of(columns)
        assert places is not None
        return [
            Candidate(0.0, Term((int(place),), family))
            for place in places
            for family in SINGLES
            if self.functions.sizes[place] > family.first
            if self.functions.sizes[place] - family.first <= max(1, self._max_size)
        ]

    def _select(
        self,
        terms: list[Term],
        k: int,
        scale: HostArray,
        held: HostArray | None = None,
        given: HostArray | None = None,
    ) -> TermSelection:
        """Fit terms together, and choose among them."""
        means, gram, joint = self._recall("sums of terms", terms, partial(self._centred_sums, terms))
        return TermSelection(
            terms,
            [self.size_of(term) for term in terms],
            means,
            gram,
            joint,
            k,
            n_columns=self.n_columns,
            n_rows=self._weight**2 / self._squared_weight,
            scale=scale,
            held=self._places_of(held),
            given=self._places_of(given),
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
