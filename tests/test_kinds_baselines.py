"""Selectors of other authors on columns of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

from l1lsmi._numerics.correlation import Whitened, correlation_of_columns, correlation_of_values
from l1lsmi._numerics.discrete import States, discretise_any
from l1lsmi._numerics.target import Target
from l1lsmi._rows.kinds import Kinds, shares_of
from l1lsmi._rows.table import Table
from l1lsmi.baselines import MRMR, QPFS, SPEC, LaplacianScore, LassoK, ReliefF
from l1lsmi.baselines._neighbours import MixedColumns

pytestmark = pytest.mark.filterwarnings("ignore:Column")

SELECTORS = [
    MRMR(1),
    MRMR(1, redundancy="correlation"),
    MRMR(1, n_bins=4),
    QPFS(1),
    QPFS(1, n_nystrom=4, random_state=0),
    ReliefF(1),
    ReliefF(1, n_neighbors="all"),
    LassoK(1),
    LaplacianScore(1),
    SPEC(1),
    SPEC(1, criterion="phi2"),
]

WITHOUT_TARGET = [LaplacianScore(1, graph="unsupervised"), SPEC(1, graph="unsupervised")]


def shop(n=300, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"n{j}": rng.normal(size=n) for j in range(3)})
    frame.loc[rng.random(n) < 0.2, "n1"] = np.nan
    frame["town"] = pd.Categorical(rng.choice(list("abcde"), n))
    frame["other"] = rng.choice(["x", "y", "z"], n)
    frame.loc[rng.random(n) < 0.1, "town"] = np.nan
    strength = frame["town"].map({"a": 2.0, "b": -2.0, "c": 2.0, "d": -2.0, "e": 0.0}).astype(float)
    return frame, (strength.fillna(0) + 0.5 * rng.normal(size=n)).to_numpy()


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_decisive_category_is_found(selector, task):
    frame, y = shop()
    y = y > 0 if task == "classes" else y
    found = clone(selector).fit(frame, y)
    assert list(found.get_feature_names_out()) == ["town"]
    assert sorted(found.categories_[3]) == list("abcde")
    renamed = frame.assign(town=frame["town"].cat.rename_categories(dict(zip("abcde", "qbzac", strict=True))))
    np.testing.assert_allclose(clone(selector).fit(renamed, y).scores_, found.scores_)
    other = clone(selector).fit(pl.from_pandas(frame), y)
    np.testing.assert_allclose(other.scores_, found.scores_)
    assert found.__sklearn_tags__().input_tags.allow_nan


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_complete_numbers_give_what_they_gave(selector):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = X[:, 1] + 0.5 * X[:, 3] + 0.1 * rng.normal(size=120)
    plain = clone(selector).fit(X, y)
    # A column without values, which is constant, makes no difference to the others.
    padded = clone(selector).fit(np.column_stack([X, np.full(120, np.nan)]), y)
    assert plain.get_support(indices=True).tolist() == padded.get_support(indices=True).tolist()
    if selector.get_params().get("n_nystrom") is None:
        np.testing.assert_allclose(padded.scores_[:5], plain.scores_, atol=1e-6)


@pytest.mark.parametrize("selector", [LaplacianScore(2, graph="unsupervised"), SPEC(2, graph="unsupervised")])
def test_graphs_without_a_target(selector):
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 200)
    frame = pd.DataFrame({f"n{j}": 6 * group + rng.normal(size=200) for j in range(2)})
    frame["same"] = np.where(group == 1, "left", "right")
    frame["noise"] = rng.normal(size=200)
    frame.loc[::9, "n0"] = np.nan
    scores = selector.fit(frame).scores_
    assert scores[2] > scores[3]


@pytest.mark.parametrize(
    "selector", [MRMR(1, relevance="f"), MRMR(1, relevance="knn"), MRMR(1, redundancy="knn")], ids=repr
)
def test_mutual_information_of_neighbours_and_f_need_numbers(selector):
    frame, y = shop(60)
    with pytest.raises(ValueError, match=r"X has text in column 'town'|contains NaN"):
        clone(selector).fit(frame, y)
    X = np.random.default_rng(0).normal(size=(30, 3))
    words = r"categorical_features is given, but re(levance|dundancy)='(f|knn)' needs numeric features"
    with pytest.raises(ValueError, match=words):
        clone(selector).set_params(categorical_features=[0]).fit(X, X[:, 0])


def test_missing_values_are_a_state():
    x = np.array([0.0, 1.0, np.nan, 0.0, np.nan, 2.0, 2.0, 1.0])
    codes = discretise_any(x[:, None], np.array([3]), None)[:, 0]
    assert codes.tolist() == [0, 1, 3, 0, 3, 2, 2, 1]
    rng = np.random.default_rng(0)
    numbers = np.where(np.arange(90) % 3 == 0, np.nan, rng.normal(size=90))
    states = discretise_any(numbers[:, None], np.array([0]), 4)
    assert set(states[::3, 0]) == {4} and np.bincount(states[:, 0]).tolist() == [15, 15, 15, 15, 30]
    whole = States(states).information((np.arange(90) % 3 == 0).astype(int))
    assert whole[0] == pytest.approx(-(np.log(1 / 3) / 3 + 2 * np.log(2 / 3) / 3))


def test_correlations_of_functions_are_those_of_pairs():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=200), rng.integers(0, 4, 200), rng.integers(0, 3, 200)]).astype(
        float
    )
    x[:, 2] = np.where(rng.random(200) < 0.5, x[:, 1] % 3, x[:, 2])
    x[:, 0] += x[:, 1] ** 2
    levels = np.array([0, 4, 3])
    found = Whitened.of(x, levels).correlations()
    for a in range(3):
        for b in range(3):
            one = correlation_of_columns(x[:, a], levels[a], x[:, b], levels[b])
            assert found[a, b] == pytest.approx(one)


def brute_differences(x, is_category, weights):
    """Differences of all pairs of rows in each column, by the definition."""
    n, m = x.shape
    found = np.empty((n, n, m))
    for j in range(m):
        column, gone = x[:, j], np.isnan(x[:, j])
        some = column[~gone]
        gaps = np.abs(column[:, None] - column) / (some.max() - some.min())
        if is_category[j]:
            gaps = np.where(column[:, None] == column, 0.0, 1.0)
        mean = np.zeros(n)
        mean[~gone] = np.average(gaps[np.ix_(~gone, ~gone)], axis=1, weights=weights[~gone])
        gaps[gone] = mean
        gaps[:, gone] = mean[:, None]
        gaps[np.ix_(gone, gone)] = np.average(mean[~gone], weights=weights[~gone])
        found[..., j] = gaps
    return found


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_differences_from_missing_values_are_expected_ones(weighted):
    rng = np.random.default_rng(0)
    x = np.column_stack(
        [rng.normal(size=40), rng.integers(0, 5, 40), rng.normal(size=40), rng.integers(0, 2, 40)]
    ).astype(float)
    x[:, [0, 1, 3]] = np.where(rng.random((40, 3)) < 0.25, np.nan, x[:, [0, 1, 3]])
    kinds = Kinds(
        (None, shares_of(x[:, 1], 5), None, None), np.isnan(x).mean(axis=0), np.zeros(4, dtype=bool)
    )
    table = Table.of(x, kinds=kinds)
    of_rows = rng.random(40) if weighted else np.ones(40)
    expected = brute_differences(x, [False, True, False, True], of_rows)
    columns = MixedColumns.of(table, np.arange(40), 0, of_rows if weighted else None)
    distances = columns.distances(slice(0, 40))
    off = ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(distances[off], expected.sum(axis=2)[off], atol=1e-6)
    rows, others = rng.integers(0, 40, 60), rng.integers(0, 40, 60)
    weights = rng.random(60)
    np.testing.assert_allclose(
        columns.differences(rows, others, weights), weights @ expected[rows, others], atol=1e-12
    )
    expected[np.arange(40), np.arange(40)] = 0
    member = np.repeat(np.eye(2), [15, 25], axis=0)
    sums = np.einsum("ia,ijk,jb->kab", member, expected, member)
    np.testing.assert_allclose(columns.differences_between(np.array([15, 25])), sums, atol=1e-9)
    left, right = rng.random((2, 40, 3))
    sums = np.einsum("ia,ijk,jb->kab", left, expected, right)
    np.testing.assert_allclose(columns.weighted_differences_between(left, right), sums, atol=1e-9)


# -- weights of rows ---------------------------------------------------------------------------


def repeated(w):
    return np.random.default_rng(1).permutation(np.repeat(np.arange(w.size), w))


def sorted_or_none(levels):
    return None if levels is None else sorted(levels)


def assert_same_fit(one, other):
    for name in ("scores_", "ranking_", "support_"):
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9, err_msg=name
        )
    assert list(map(sorted_or_none, one.categories_)) == list(map(sorted_or_none, other.categories_))


@pytest.mark.parametrize("task", ["classes", "numbers", "several"])
@pytest.mark.parametrize("selector", [*SELECTORS, *WITHOUT_TARGET], ids=repr)
def test_whole_weights_are_repetition(selector, task):
    frame, y = shop(80)
    y = {"classes": np.digitize(y, [-1, 1]), "numbers": y, "several": np.column_stack([y, y > 0])}[task]
    w = np.random.default_rng(5).integers(0, 4, size=80)
    rows = repeated(w)
    one = clone(selector).fit(frame, y, sample_weight=w)
    assert_same_fit(one, clone(selector).fit(frame.iloc[rows], y[rows]))
    assert not np.allclose(one.scores_, clone(selector).fit(frame, y).scores_)


@pytest.mark.parametrize("selector", [*SELECTORS, *WITHOUT_TARGET], ids=repr)
def test_whole_weights_are_repetition_where_all_values_are_discrete(selector):
    frame, y = shop(80)
    frame, y = frame[["town", "other"]].assign(n=frame["n1"].round(), z=frame["n2"] > 0), y > 0
    w = np.random.default_rng(5).integers(0, 4, size=80)
    rows = repeated(w)
    assert_same_fit(
        clone(selector).fit(frame, y, sample_weight=w), clone(selector).fit(frame.iloc[rows], y[rows])
    )


def mixed_columns(n=60):
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 4, n), rng.integers(0, 3, n)]).astype(float)
    x[:, 3] = np.where(rng.random(n) < 0.6, x[:, 2] % 3, x[:, 3])
    x[rng.random((n, 4)) < 0.15] = np.nan
    return x, np.array([0, 0, 4, 3]), rng.integers(1, 4, n)


def test_weighted_correlations_are_those_of_repeated_rows():
    x, levels, w = mixed_columns()
    rows, y = repeated(w), np.random.default_rng(0).normal(size=60)
    one, other = Whitened.of(x, levels, w.astype(float)), Whitened.of(x[rows], levels)
    np.testing.assert_allclose(one.correlations(), other.correlations(), rtol=1e-10)
    np.testing.assert_allclose(one.correlations_with(2), other.correlations()[:, 2], rtol=1e-10)
    for target in (
        lambda rows: Target.of_values(y[rows], 0.0, 1.0),
        lambda rows: Target.of_classes(y[rows] > 0),
    ):
        for j in range(4):
            found = correlation_of_values(x[:, j], levels[j], target(np.arange(60)).weighted(w.astype(float)))
            assert found == pytest.approx(correlation_of_values(x[rows, j], levels[j], target(rows)))


def test_correlations_do_not_depend_on_how_many_are_computed_at_a_time(monkeypatch):
    x, levels, w = mixed_columns()
    whole = Whitened.of(x, levels, w).correlations()
    monkeypatch.setattr("l1lsmi._numerics.correlation.PRODUCTS", 1)
    np.testing.assert_allclose(Whitened.of(x, levels, w).correlations(), whole, rtol=1e-12)


@pytest.mark.parametrize("n_bins", [None, 3])
def test_weighted_states_are_those_of_repeated_rows(n_bins):
    x, levels, w = mixed_columns()
    rows, y = repeated(w), np.arange(60) % 3
    codes = discretise_any(x, levels, n_bins, w.astype(float))
    assert codes.max(axis=0).tolist() == [3, 3, 4, 3]
    if n_bins is None:
        np.testing.assert_array_equal(codes[rows], discretise_any(x[rows], levels, n_bins))
    else:
        shares = np.bincount(codes[:, 0], w)[:3] / w[codes[:, 0] < 3].sum()
        np.testing.assert_allclose(shares, 1 / 3, atol=0.05)
    one = States(codes, w.astype(float)).information(y)
    np.testing.assert_allclose(one, States(codes[rows]).information(y[rows]), atol=1e-10)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_heavy_rows_decide(selector):
    # In some rows the target depends on one category, in the others on another.
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(list("abc"), 300) for name in ("one", "other", "noise")})
    frame["number"] = rng.normal(size=300)
    first = np.arange(300) < 150
    y = np.where(first, frame["one"] == "a", frame["other"] == "a") + 0.1 * rng.normal(size=300)
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    for heavy, name in ((first, "one"), (~first, "other")):
        found = clone(selector).fit(frame, y, sample_weight=np.where(heavy, 1.0, 0.05))
        assert list(found.get_feature_names_out()) == [name]


# -- several targets, and sparse tables --------------------------------------------------------


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_several_targets(selector):
    frame, y = shop()
    second = frame["n0"] + (frame["other"] == "x")
    found = clone(selector).set_params(n_features_to_select=3)
    found.fit(frame, pd.DataFrame({"one": y > 0, "two": second}))
    assert {"town", "n0"} < set(found.get_feature_names_out())
    if isinstance(selector, (ReliefF, SPEC, LaplacianScore)):
        each = [clone(selector).fit(frame, one).scores_ for one in (y > 0, second)]
        np.testing.assert_allclose(found.scores_, np.mean(each, axis=0))


@pytest.mark.parametrize("selector", [QPFS(2, alpha=1.0), MRMR(2)], ids=repr)
def test_relevance_is_the_mean_over_several_targets(selector):
    frame, y = shop()
    second = frame["n0"].to_numpy() + (frame["other"] == "x")

    def relevance(target):
        found = clone(selector).fit(frame, target)
        return found.scores_ if isinstance(selector, QPFS) else found.relevance_

    both = relevance(pd.DataFrame({"one": y > 0, "two": second}))
    np.testing.assert_allclose(both, (relevance(y > 0) + relevance(second)) / 2, rtol=1e-9)


@pytest.mark.parametrize("selector", [*SELECTORS, *WITHOUT_TARGET], ids=repr)
def test_sparse_tables_are_complete_numbers(selector):
    rng = np.random.default_rng(0)
    X = np.where(rng.random((60, 5)) < 0.5, 0.0, rng.normal(size=(60, 5)))
    y = X[:, 1] + 0.1 * rng.normal(size=60)
    found = clone(selector).fit(csr_array(X), y)
    np.testing.assert_allclose(found.scores_, clone(selector).fit(X, y).scores_, rtol=1e-9)
    with pytest.raises(ValueError, match="categorical_features is given, but X is sparse"):
        clone(selector).set_params(categorical_features=[0]).fit(csr_array(X), y)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        clone(selector).fit(csr_array(X), y)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_columns_of_an_array_are_named_categories(selector):
    frame, y = shop()
    codes = frame.assign(
        town=frame["town"].cat.codes.where(frame["town"].notna()), other=frame["other"] == "x"
    )
    X = codes.to_numpy(dtype=float)
    found = clone(selector).set_params(categorical_features=[3]).fit(X, y)
    assert found.get_support(indices=True).tolist() == [3]
    expected = clone(selector).fit(frame.assign(other=codes["other"].astype(float)), y)
    np.testing.assert_allclose(found.scores_, expected.scores_)
