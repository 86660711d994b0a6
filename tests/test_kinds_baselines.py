"""Selectors of other authors on columns of any kind."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from l1lsmi._numerics.correlation import Whitened, correlation_of_columns
from l1lsmi._numerics.discrete import States, discretise_any
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
    with pytest.raises(ValueError, match="categorical_features is given, but with relevance"):
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


def brute_differences(x, is_category):
    """Differences of all pairs of rows in each column, by the definition."""
    n, m = x.shape
    found = np.empty((n, n, m))
    for j in range(m):
        column, gone = x[:, j], np.isnan(x[:, j])
        some = column[~gone]
        gaps = np.abs(column[:, None] - column) / (some.max() - some.min())
        if is_category[j]:
            gaps = np.where(column[:, None] == column, 0.0, 1.0)
        mean = np.array([gaps[i][~gone].mean() if not gone[i] else np.nan for i in range(n)])
        gaps[gone] = mean
        gaps[:, gone] = mean[:, None]
        gaps[np.ix_(gone, gone)] = np.nanmean(mean)
        found[..., j] = gaps
    return found


def test_differences_from_missing_values_are_expected_ones():
    rng = np.random.default_rng(0)
    x = np.column_stack(
        [rng.normal(size=40), rng.integers(0, 5, 40), rng.normal(size=40), rng.integers(0, 2, 40)]
    ).astype(float)
    x[:, [0, 1, 3]] = np.where(rng.random((40, 3)) < 0.25, np.nan, x[:, [0, 1, 3]])
    kinds = Kinds(
        (None, shares_of(x[:, 1], 5), None, None), np.isnan(x).mean(axis=0), np.zeros(4, dtype=bool)
    )
    table = Table.of(x, kinds=kinds)
    sizes = np.array([15, 25])
    expected = brute_differences(x, [False, True, False, True])
    columns = MixedColumns.of(table, np.arange(40), 0)
    distances = columns.distances(slice(0, 40))
    off = ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(distances[off], expected.sum(axis=2)[off], atol=1e-6)
    rows, others = rng.integers(0, 40, 60), rng.integers(0, 40, 60)
    weights = rng.random(60)
    np.testing.assert_allclose(
        columns.differences(rows, others, weights), weights @ expected[rows, others], atol=1e-12
    )
    between = columns.differences_between(sizes)
    expected[np.arange(40), np.arange(40)] = 0
    for a, one in enumerate((slice(0, 15), slice(15, 40))):
        for b, other in enumerate((slice(0, 15), slice(15, 40))):
            np.testing.assert_allclose(between[:, a, b], expected[one, other].sum(axis=(0, 1)), atol=1e-9)
