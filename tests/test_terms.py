"""Effects of single columns, pairs and triples: functions, sums, normal equations and the search."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, kstest

from l1lsmi import L1LSMI
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms import sums
from l1lsmi._numerics.terms.columns import ColumnFunctions, coded
from l1lsmi._numerics.terms.families import (
    BEND,
    INTERACTION,
    PRODUCT,
    TREND,
    TRIPLE,
    Term,
    by_chance,
    z_scores,
)
from l1lsmi._numerics.terms.normal_equations import NormalEquations
from l1lsmi._numerics.terms.search import TermSearch
from l1lsmi._numerics.terms.target_functions import target_functions
from l1lsmi._rows.stream import StreamTable
from l1lsmi._rows.table import Resources, Table
from l1lsmi.explain import pair_terms
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.plots import SelectionPathDisplay
from l1lsmi.strategies import L1Path


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def numbers(y, weights=None):
    return Target.of_values(y, float(y.mean()), float(y.std()), weights)


def search_in(X, y, k, loss_functions=None, **options):
    target = Target.of_classes(y) if y.dtype.kind in "ib" else numbers(y)
    table = Table.of(X)
    search = TermSearch(table, target, table.varying, np.random.default_rng(0), loss_functions)
    return search.search(k, **options), search


def mixed_columns(rng, n=700):
    """A normal column, one with heavy tails, few values, two values, and many ties."""
    return np.column_stack([
        rng.normal(size=n),
        rng.standard_cauchy(size=n),
        rng.integers(0, 5, n),
        rng.random(n) < 0.3,
        np.maximum(rng.normal(size=n), 0),
    ])  # fmt: skip


def test_functions_are_orthonormal_with_mean_0(rng):
    X = mixed_columns(rng)
    table, target = Table.of(X), numbers(rng.normal(size=len(X)))
    functions = ColumnFunctions.of(table, target, table.varying)
    assert functions.sizes[2:4].tolist() == [4, 1]
    codes = functions.codes(table)
    for place, size in enumerate(functions.sizes):
        columns = functions.values[place, codes[:, place], :size]
        np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-6)
        np.testing.assert_allclose(columns.T @ columns / len(X), np.eye(size), atol=1e-5)


def test_functions_do_not_depend_on_monotone_changes(rng):
    X = mixed_columns(rng)
    target = numbers(rng.normal(size=len(X)))
    one, other = (ColumnFunctions.of(Table.of(x), target, np.arange(5)) for x in (X, np.arctan(3 * X) + 7))
    np.testing.assert_allclose(one.values, other.values, atol=1e-9)


def test_a_value_that_too_few_rows_have_is_merged_with_its_neighbour(rng):
    x = np.zeros((1_000, 1))
    x[:3] = 1.0
    y = rng.normal(size=1_000)
    functions = ColumnFunctions.of(Table.of(x), numbers(y), np.array([0]))
    assert functions.sizes.tolist() == [0]


def test_classes_that_a_part_of_the_rows_does_not_have(rng):
    X = mixed_columns(rng)
    labels = np.arange(len(X)) % 40
    rows = np.flatnonzero(labels % 3)
    part, own = Target.of_classes(labels).rows_of(rows), Target.of_classes(labels[rows])
    one, other = (ColumnFunctions.of(Table.of(X[rows]), target, np.arange(5)) for target in (part, own))
    np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("kind", ["numbers", "classes", "several"])
def test_functions_of_the_target_are_orthonormal(rng, kind):
    weights = rng.integers(1, 4, 300).astype(float)
    if kind == "classes":
        target = Target.of_classes(rng.integers(0, 4, 300), weights)
    else:
        y = rng.normal(size=(300, 2)) if kind == "several" else rng.normal(size=300)
        target = Target.of_values(y, y.mean(axis=0), y.std(axis=0), weights)
    psi = target_functions(target)
    assert psi.shape[1] == {"numbers": 1, "classes": 3, "several": 2}[kind]
    np.testing.assert_allclose(weights @ psi, 0, atol=1e-9)
    np.testing.assert_allclose(
        psi.T @ (psi * weights[:, None]) / weights.sum(), np.eye(psi.shape[1]), atol=1e-9
    )


def plain_sizes(search, X):
    """Sizes of pair terms by a double loop over columns and functions."""
    functions = search.functions
    codes = functions.codes(Table.of(X))
    psi = search.target.columns[:, : search.n_responses]
    m = functions.columns.size
    phi = [functions.values[j, codes[:, j], : functions.n_pair_functions[j]] for j in range(m)]
    found = np.zeros((m, m))
    for j in range(m):
        for other in range(m):
            for b in range(psi.shape[1]):
                joint = phi[j].T @ (phi[other] * psi[:, [b]])
                found[j, other] += (joint**2).sum() / len(X)
    return found


@pytest.mark.parametrize("classes", [0, 2, 3])
def test_pair_sizes_are_those_of_a_double_loop(rng, classes):
    X = mixed_columns(rng, 400)
    y = rng.integers(0, classes, 400) if classes else rng.normal(size=400)
    target = Target.of_classes(y) if classes else numbers(y)
    search = TermSearch(Table.of(X), target, np.arange(5), np.random.default_rng(0))
    (found,) = search.all_pair_sizes(search.none_fitted(), np.zeros(5))
    np.testing.assert_allclose(found.product + found.interaction, plain_sizes(search, X), rtol=1e-9)
    assert (found.product_degrees + found.interaction_degrees)[2, 4] == 12 * max(1, classes - 1)


def test_triple_sums_are_those_of_a_loop(rng):
    X = rng.normal(size=(300, 5))
    search = TermSearch(Table.of(X), numbers(rng.normal(size=300)), np.arange(5), np.random.default_rng(0))
    fit = search.none_fitted()
    part = type("Part", (), {"table": search.table, "target": search.target})
    found = sums.triple_sums(part, search.functions, np.arange(5), fit)
    first = np.column_stack([search.functions.values[j, search.table.x[:, j], 0] for j in range(5)])
    psi = search.target.columns[:, 0]
    assert found[0, 0, 2, 4] == pytest.approx((first[:, 0] * first[:, 2] * first[:, 4] * psi).sum())


def test_sizes_without_dependence_are_chi_squared():
    sizes = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        search = TermSearch(
            Table.of(rng.normal(size=(500, 4))), numbers(rng.normal(size=500)), np.arange(4), rng
        )
        (found,) = search.all_pair_sizes(search.none_fitted(), np.zeros(4))
        sizes += found.interaction[np.triu_indices(4, 1)].tolist()
    assert kstest(sizes, chi2(8).cdf).pvalue > 1e-3


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_groups_enter_and_leave_normal_equations(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(80, 7)), rng.normal(size=(80, 2))
    groups = [np.array([0, 1]), np.array([2]), np.array([3, 4, 5]), np.array([6])]
    equations = NormalEquations(x.T @ x, x.T @ y, groups, ridge=0.0)

    def explained(some):
        if not some:
            return 0.0
        columns = x[:, np.concatenate([groups[g] for g in some])]
        return float((y * (columns @ np.linalg.lstsq(columns, y, rcond=None)[0])).sum())

    for group in (2, 0, 3):
        before = equations.explained
        gain = equations.gains()[group]
        equations.enter(group)
        assert equations.explained - before == pytest.approx(gain, rel=1e-6)
    assert equations.explained == pytest.approx(explained([0, 2, 3]), rel=1e-8)
    assert equations.loss_without([0, 3]) == pytest.approx(explained([0, 2, 3]) - explained([2]), rel=1e-6)
    other = equations.copy()
    other.leave(2)
    assert other.explained == pytest.approx(explained([0, 3]), rel=1e-8)
    assert equations.explained == pytest.approx(explained([0, 2, 3]), rel=1e-8)


def test_chance_grows_with_the_number_of_terms():
    assert by_chance(TREND, 100, 1) == pytest.approx(chi2.isf(0.01, 1))
    assert by_chance(PRODUCT, 100, 1) > by_chance(TREND, 100, 1)
    assert by_chance(TRIPLE, 100, 1) > by_chance(PRODUCT, 100, 1)
    assert by_chance(BEND, 1_000, 2) > by_chance(BEND, 100, 2)
    assert by_chance(INTERACTION, 2, 8) > 0


def test_z_scores_are_normal_quantiles():
    quantiles = np.array([0.5, 0.01, 1e-4])
    for degrees in (1, 3, 9):
        expected = np.array([0.0, 2.326, 3.719])
        np.testing.assert_allclose(
            z_scores(chi2.isf(quantiles, degrees), np.full(3, degrees)), expected, atol=0.2
        )


PROBLEMS = {
    "single effects": lambda X: X[:, 3] + np.abs(X[:, 7]) + (X[:, 11] > 1),
    "a product": lambda X: X[:, 3] * X[:, 7] + 0.5 * X[:, 11],
    "a product of three": lambda X: np.sign(X[:, 3] * X[:, 7] * X[:, 11]),
    "a periodic effect": lambda X: np.sin(4 * X[:, 3]) + X[:, 7] * X[:, 11],
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("classes", [False, True])
def test_weak_effects_are_found(rng, problem, classes):
    X = rng.normal(size=(4_000, 30))
    signal = PROBLEMS[problem](X)
    y = signal / signal.std() + 2 * rng.normal(size=len(X))
    found, search = search_in(X, (y > np.median(y)).astype(int) if classes else y, 3)
    assert found == (3, 7, 11)
    assert search.certain == (3, 7, 11)


def test_a_copy_of_a_feature_is_not_taken_as_well(rng):
    X = rng.normal(size=(2_000, 12))
    X[:, 5] = X[:, 2] + 0.3 * rng.normal(size=2_000)
    y = X[:, 2] + 0.5 * X[:, 9] + rng.normal(size=2_000)
    assert search_in(X, y, 2)[0] == (2, 9)


def test_nothing_is_certain_of_noise():
    certain = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        certain.append(len(search_in(rng.normal(size=(500, 20)), rng.normal(size=500), 3)[1].certain))
    assert np.mean(np.array(certain) > 0) < 0.4


def test_a_search_that_is_out_of_time_has_an_answer(rng):
    X = rng.normal(size=(500, 20))
    found, _ = search_in(X, X[:, 4] + rng.normal(size=500), 1, out_of_time=lambda: True)
    assert found == (4,)


def test_the_loss_of_a_set_is_what_its_terms_leave(rng):
    X = rng.normal(size=(3_000, 6))
    y = X[:, 1] + rng.normal(size=3_000)
    psi = target_functions(numbers(y))
    _, search = search_in(X, y, 1, loss_functions=psi)
    assert search.loss_of((1,)) == pytest.approx(0.52, abs=0.05)
    assert search.loss_of((2,)) == pytest.approx(1.0, abs=0.01)
    assert search.loss_of((1, 2)) == pytest.approx(search.loss_of((1,)), abs=0.01)


def test_sparse_columns_without_an_effect_are_left_to_no_search(rng):
    X = rng.normal(size=(500, 4))
    X[:, 1:] = rng.random((500, 3)) < 0.06
    y = X[:, 0] + 3 * X[:, 2]
    table = Table.of(X)
    search = TermSearch(table, numbers(y), table.varying, rng)
    search.search(2)
    assert {0, 2} <= set(search.possible_columns().tolist()) < {0, 1, 2, 3}


class Blocks:
    def __init__(self, X, size):
        self.X, self.size = X, size

    def blocks(self, columns):
        for start in range(0, len(self.X), self.size):
            block = self.X[start : start + self.size]
            yield block if columns is None else block[:, columns]


def test_blocks_threads_and_array_libraries_give_the_same_terms(rng):
    X = np.column_stack([mixed_columns(rng, 5_000), rng.normal(size=(5_000, 4))])
    y = numbers(X[:, 0] * X[:, 5] + 0.2 * X[:, 2] + rng.normal(size=5_000))
    table = Table.of(X)
    tables = {
        "threads": Table.of(X, Resources(n_jobs=2)),
        "little memory": Table.of(X, Resources(memory_limit=40_000)),
        "blocks": StreamTable(Blocks(X, 777), len(X), table.mean, table.scale, Resources()),
        "strict": Table.of(array_api_strict.asarray(X)),
    }
    expected = TermSearch(table, y, table.varying, np.random.default_rng(0))
    answer = expected.search(3)
    sizes = expected.all_pair_sizes(expected.none_fitted(), np.zeros(9))[0]
    for name, other in tables.items():
        found = TermSearch(other, y, table.varying, np.random.default_rng(0))
        assert found.search(3) == answer, name
        again = found.all_pair_sizes(found.none_fitted(), np.zeros(9))[0]
        np.testing.assert_allclose(again.interaction, sizes.interaction, rtol=1e-7, err_msg=name)
        assert found.loss_of(answer) is not None


def test_a_row_of_weight_2_counts_twice(rng):
    X = rng.normal(size=(300, 5))
    y = X[:, 1] * X[:, 3] + rng.normal(size=300)
    counts = rng.integers(1, 3, 300)
    twice = np.repeat(np.arange(300), counts)
    weighted = Target.of_values(y, 0.0, 1.0, counts.astype(float))
    repeated = Target.of_values(y[twice], 0.0, 1.0)
    one = TermSearch(Table.of(X, row_weights=counts), weighted, np.arange(5), np.random.default_rng(0))
    other = TermSearch(Table.of(X[twice]), repeated, np.arange(5), np.random.default_rng(0))
    terms = [Term((1, 3), PRODUCT), Term((2,), TREND)]
    # The bins come from unweighted quantiles: the same ones are used for both.
    other.functions = one.functions
    other.table = coded(Table.of(X[twice]), one.functions)
    other._bind_target()
    for a, b in zip(one._centred_sums(terms), other._centred_sums(terms), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_pair_terms_have_z_scores(rng):
    X = rng.normal(size=(2_000, 8))
    X[:, 6] = X[:, 5] + 0.5 * rng.normal(size=2_000)
    y = X[:, 1] * X[:, 4] + X[:, 5] + rng.normal(size=2_000)
    found = pair_terms(X, y, feature_names=list("abcdefgh"))
    assert [pair[:2] for pair in found.strongest(1)] == [("b", "e")]
    others = found.pair_z[np.triu_indices(8, 1)]
    assert np.sort(others)[-2] < 5  # columns that depend on each other are no interaction
    assert found.single_z[5] > 10
    np.testing.assert_allclose(found.pair_z, found.pair_z.T, atol=1e-9)
    assert found.n_rows == 2_000


def test_pair_terms_of_a_constant_column_are_0(rng):
    X = rng.normal(size=(200, 3))
    X[:, 1] = 4.0
    found = pair_terms(X, rng.integers(0, 3, 200))
    assert found.single_z[1] == found.pair_z[1, 0] == found.pair_degrees[1, 2] == 0


def test_the_selector_finds_weak_products_among_many_columns(rng):
    X = rng.normal(size=(6_000, 60))
    signal = X[:, 10] * X[:, 20] + X[:, 30] * X[:, 40] + 0.7 * X[:, 50]
    y = signal / signal.std() + 2.5 * rng.normal(size=len(X))
    selector = L1LSMI(5, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [10, 20, 30, 40, 50]
    assert "effects" in selector.stop_reason_


def test_rare_classes_keep_their_rows_in_a_sample(rng):
    from l1lsmi._numerics.sampling import draw_with_rare

    codes = (np.arange(20_000) < 150).astype(int)
    rows, weights = draw_with_rare(codes, np.zeros(20_000, dtype=int), None, 1_000, rng)
    assert rows.size == 1_000
    assert codes[rows].sum() == 150
    assert weights.sum() == pytest.approx(20_000)
    assert np.unique(weights[codes[rows] == 1]).tolist() == [1.0]
    even = rng.integers(0, 2, 5_000)
    assert draw_with_rare(even, np.zeros(5_000, dtype=int), None, 500, rng)[1] is None


def test_a_search_without_terms_follows_a_path(rng):
    X = rng.integers(0, 2, size=(300, 6))
    y = X[:, 1] ^ X[:, 4]
    with_terms = L1LSMI(2, random_state=0).fit(X, y)
    assert with_terms.path_ == []
    assert sorted(with_terms.ranking_.tolist()) == [1, 1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="ended before it needed a path"):
        SelectionPathDisplay.from_estimator(with_terms)
    without = L1Path(terms=False).select(SquaredMutualInformation(), X, y, 2, random_state=0)
    assert np.array_equal(without.support, with_terms.support_)
    assert without.path


def test_restarts_on_many_columns_end_when_they_do_not_help(rng):
    X = rng.normal(size=(60, 1_500))
    y = (X[:, 0] > 0).astype(int)
    selector = L1LSMI(3, n_restarts=40, max_iter=1, pool=None, random_state=0).fit(X, y)
    assert len({point.restart for point in selector.path_}) < 40
    assert "restarts" in selector.stop_reason_.lower()


def test_the_set_of_the_terms_is_compared_on_all_rows(rng):
    # An effect so weak that a sample does not show it.
    X = rng.normal(size=(30_000, 20))
    y = (X[:, 2] * X[:, 5] + 0.12 * X[:, 9] + 0.5 * rng.normal(size=30_000) > 1.5).astype(int)
    selector = L1LSMI(3, explore_rows=1_000, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [2, 5, 9]


def test_a_sample_of_the_rows_gives_sizes_of_its_own(rng, monkeypatch):
    X = rng.normal(size=(4_000, 6))
    target = numbers(rng.normal(size=4_000))
    monkeypatch.setattr("l1lsmi._numerics.terms.search.MAX_OPERATIONS", 2.0 * 1_000 * 18**2)
    search = TermSearch(Table.of(X), target, np.arange(6), rng)
    sizes = search.all_pair_sizes(search.none_fitted(), np.zeros(6))[-1]
    inside = np.triu_indices(6, 1)
    # Without dependence a size is chi-squared, whose mean is its degrees of freedom.
    ratio = sizes.interaction[inside] / sizes.interaction_degrees[inside]
    assert 0.7 < ratio.mean() < 1.3
