"""Sparse X: the answers of a dense X, in the memory of a sparse one."""

import subprocess
import sys
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, _base, _sparse, baselines
from l1lsmi._numerics.terms.entries import chances_of_effects, effects_of_entries
from l1lsmi._rows.blocks import Block, Centers
from l1lsmi._rows.sparse import moments_of, ranges_of
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._rows.table import Table, is_large_sparse
from l1lsmi._sparse import SparseMatrix
from l1lsmi._validation import parameters
from l1lsmi._validation.target import check_target
from l1lsmi.explain import contributions
from l1lsmi.measures import Pearson, SquaredMutualInformation
from l1lsmi.strategies import Ranking
from tests.conftest import TASKS
from tests.matrix import MEASURES, SELECTORS, STRATEGIES, combine

NUMBERS = ("score_", "cv_score_", "hsic_", "estimate_", "scores_", "weights_", "p_value_", "coef_")


def counts(n=120, m=9, seed=0):
    """Word counts, a column of nothing but zeros among them."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.5, size=(n, m)) * (rng.random((n, m)) < 0.3) * 1.0
    X[:, m - 2] = 0.0
    return X


def target_of(X, task, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    return (X[:, 1] + X[:, 3] + 0.2 * noise > 0.5).astype(int) if task == "classification" else (
        X[:, 1] - 2 * X[:, 4] + 0.3 * noise
    )  # fmt: skip


def assert_same(one, other, tolerance=1e-10):
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)
    assert one.warnings_ == other.warnings_
    for name in NUMBERS:
        if getattr(one, name, None) is not None:
            np.testing.assert_allclose(
                getattr(other, name), getattr(one, name), rtol=tolerance, atol=tolerance
            )


# -- the same answers ----------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("name", "kind"), list(zip(SELECTORS, cycle(("csr", "csc", "coo")), strict=False)))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_selector_gives_the_answer_of_a_dense_table(name, kind, task):
    X = counts()
    y = target_of(X, task)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=3)
    dense = clone(selector).fit(X, y)
    found = selector.fit(sparse.csr_array(X).asformat(kind), y)
    assert_same(dense, found)
    assert found.__sklearn_tags__().input_tags.sparse


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_measure_with_every_strategy(measure, strategy, task):
    X = counts(80, 6)
    y = target_of(X, task)
    selector = combine(measure, strategy, 2, random_state=0)
    if measure == "Pearson" and strategy != "Ranking":
        return
    assert_same(clone(selector).fit(X, y), selector.fit(sparse.csr_array(X), y))


@pytest.mark.parametrize(
    "selector",
    [
        L1LSMI(3, random_state=0),
        L1LSMI(3, random_state=0, precision="float32"),
        L1LSMI(3, random_state=0, memory_limit=200_000),
        L1HSIC(3, random_state=0),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_more_columns_than_rows(selector):
    X = counts(50, 120)
    y = target_of(X, "classification")
    dense, found = clone(selector).fit(X, y), selector.fit(sparse.csc_array(X), y)
    assert_same(dense, found)
    assert dense.pool_size_ == found.pool_size_


def test_measures_and_strategies_take_sparse_tables_themselves():
    X = counts()
    y, S = target_of(X, "classification"), sparse.csr_array(X)
    for name, given in MEASURES.items():
        measure = clone(given)
        measure.set_params(**{key: 0 for key in measure.get_params() if key == "random_state"})
        np.testing.assert_allclose(
            measure.score_each(S, y), measure.score_each(X, y), rtol=1e-12, err_msg=name
        )
        assert measure.score(S, y) == pytest.approx(measure.score(X, y), rel=1e-12)
    chosen = [Ranking().select(Pearson(), given, y, 2).support for given in (X, S)]
    np.testing.assert_array_equal(*chosen)
    estimates = [SquaredMutualInformation(random_state=0).estimate(given, y) for given in (X, S)]
    np.testing.assert_array_equal(estimates[0].centers, estimates[1].centers)


def test_wide_products_are_the_same():
    rng = np.random.default_rng(0)
    X = counts(70, 300)
    columns, weights = np.arange(300)[None], rng.random((1, 300))
    found = []
    for x in (X, SparseMatrix.of(sparse.csc_array(X))):
        table = Table.of(x)
        centers = Centers(table, np.arange(0, 70, 7)[None], np.arange(0, 70, 7)[None], max_columns=50)
        block = Block(table, rng.permutation(70)[None, None, :] if not found else found[0][2], centers)
        exponents = block.exponents(weights, columns).copy()
        found.append((exponents, block.pull_back(np.ones_like(exponents), columns), block.rows))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


# -- kinds of matrices ---------------------------------------------------------------------


def odd_matrices(X):
    entries = sparse.coo_array(X)
    row, col, data = entries.row, entries.col, entries.data
    twice = sparse.coo_array(
        (np.concatenate([data / 2, data / 2]), (np.tile(row, 2), np.tile(col, 2))), shape=X.shape
    )
    rows = sparse.csr_array(X)
    unsorted = rows.copy()
    for start, stop in zip(unsorted.indptr[:-1], unsorted.indptr[1:], strict=True):
        unsorted.indices[start:stop] = unsorted.indices[start:stop][::-1]
        unsorted.data[start:stop] = unsorted.data[start:stop][::-1]
    unsorted.has_sorted_indices = False
    wide = rows.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    repeated = sparse.csc_array(
        (np.repeat(sparse.csc_array(X).data / 2, 2), np.repeat(sparse.csc_array(X).indices, 2),
         2 * sparse.csc_array(X).indptr), shape=X.shape)  # fmt: skip
    zeros = sparse.csr_array((np.ones(X.size), np.nonzero(np.ones_like(X))), shape=X.shape)
    zeros.data[:] = X.ravel()
    return {
        "matrix": sparse.csr_matrix(X),
        "COO matrix": sparse.coo_matrix(X),
        "lists": sparse.lil_array(X),
        "keys": sparse.dok_array(X),
        "blocks": sparse.bsr_array(X),
        "whole numbers": rows.astype(np.int32),
        "float32": rows.astype(np.float32),
        "int64 indices": wide,
        "unsorted": unsorted,
        "entries twice in COO": twice,
        "entries twice in CSC": repeated,
        "explicit zeros": zeros,
    }


@pytest.mark.parametrize("kind", odd_matrices(counts()))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_kinds_of_matrices(kind):
    X = counts()
    y = target_of(X, "regression")
    S = odd_matrices(X)[kind]
    before = S.copy()
    assert_same(L1HSIC(3).fit(X, y), L1HSIC(3).fit(S, y))
    assert (before != S).nnz == 0 and S.dtype == before.dtype


def test_true_and_false():
    X = counts() > 0
    y = target_of(X * 1.0, "classification")
    assert_same(L1HSIC(2).fit(X, y), L1HSIC(2).fit(sparse.csr_array(X), y))


def test_frames_with_sparse_columns():
    X = counts()
    y = target_of(X, "regression")
    names = [f"word {j}" for j in range(X.shape[1])]
    dense = pd.DataFrame(X, columns=names)
    frames = {
        "zeros": dense.astype(pd.SparseDtype(float, 0)),
        "whole numbers": dense.astype(pd.SparseDtype(int, 0)),
        "nothing left out": dense.astype(pd.SparseDtype(float, np.nan)),
        "ones left out": dense.astype(pd.SparseDtype(float, 1.0)),
        "some dense": dense.astype({name: pd.SparseDtype(float, 0) for name in names[:4]}),
    }
    expected = L1HSIC(3).fit(dense, y)
    for kind, frame in frames.items():
        found = L1HSIC(3).fit(frame, y)
        assert_same(expected, found)
        assert found.feature_names_in_.tolist() == names, kind
        selected = found.transform(frame)
        assert sparse.issparse(selected) and selected.format == "csr"
        np.testing.assert_array_equal(selected.toarray(), X[:, expected.support_])
        kept = clone(found).set_output(transform="pandas").fit(frame, y).transform(frame)
        assert list(kept.columns) == expected.get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="feature names should match"):
        found.transform(frames["zeros"].rename(columns={"word 0": "another"}))
    with pytest.raises(ValueError, match="8 features, but L1HSIC is expecting 9"):
        L1HSIC(3).fit(sparse.csr_array(X), y).transform(
            frames["zeros"].iloc[:, :8].set_axis(range(8), axis=1)
        )
    missing = dense.copy()
    missing.iloc[4, 2] = np.nan
    with pytest.raises(ValueError, match="NaN, first in row 4 of column 'word 2'"):
        L1HSIC(3).fit(missing.astype(pd.SparseDtype(float, np.nan)), y)
    with pytest.raises(ValueError, match="not numbers in column 'text'"):
        L1HSIC(3).fit(frames["zeros"].assign(text="a"), y)


# -- transform -----------------------------------------------------------------------------


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_transform_stays_sparse(make):
    X = counts()
    selector = L1HSIC(3).fit(make(X), target_of(X, "regression"))
    selected = selector.transform(make(X))
    assert sparse.issparse(selected) and selected.format == "csr"
    assert isinstance(selected, sparse.spmatrix) == isinstance(make(X), sparse.spmatrix)
    np.testing.assert_array_equal(selected.toarray(), selector.transform(X))
    back = selector.inverse_transform(make(selected))
    assert type(back) is make
    np.testing.assert_array_equal(back.toarray(), selector.inverse_transform(selector.transform(X)))
    with pytest.raises(ValueError, match=r"X has shape \(120, 9\), but 3 features are selected"):
        selector.inverse_transform(make(X))


# -- what is refused -----------------------------------------------------------------------


def with_value(value):
    X = sparse.csr_array(counts())
    X.data = X.data.astype(type(value) if isinstance(value, complex) else float)
    X.data[X.indptr[6]] = value
    return X


def corrupt():
    X = sparse.csr_array(counts())
    X.indices[3] = 1_000_000
    return X


REFUSED = {
    "missing": (with_value(np.nan), "Input X contains NaN, first in row 6 of column"),
    "infinite": (with_value(-np.inf), "Input X contains infinity, first in row 6 of column"),
    "complex": (with_value(1j), "[Cc]omplex data"),
    "one row": (sparse.csr_array(counts()[:1]), "minimum of 2 is required"),
    "no columns": (sparse.csr_array((120, 0)), r"0 feature\(s\)"),
    "only zeros": (sparse.csr_array((120, 4)), "only constant columns"),
    "one dimension": (sparse.coo_array(np.arange(120.0)), r"Expected 2D array, got a sparse array of shape"),
    "indices out of range": (corrupt(), "X cannot be used"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case):
    X, words = REFUSED[case]
    y = np.arange(X.shape[0]) % 2
    for selector in (L1LSMI(1), baselines.MRMR(1)):
        with pytest.raises(ValueError, match=words):
            selector.fit(X, y)
        assert not hasattr(selector, "support_")


def test_sentences_about_where_sparse_tables_do_not_go():
    X = sparse.csr_array(counts())
    y = target_of(counts(), "regression")
    with pytest.raises(ValueError, match="device='cpu' is given, but X is sparse"):
        L1LSMI(2, device="cpu").fit(X, y)
    with pytest.raises(ValueError, match="Block 0 of X is a sparse matrix: pass all rows as one"):
        L1LSMI(2).fit(lambda: iter([X]), y)


def test_explanations_are_those_of_the_dense_table():
    X = sparse.csr_array(counts())
    y = target_of(counts(), "regression")
    selector = L1HSIC(2).fit(X, y)
    one, other = contributions(selector, X, y), contributions(selector, X.toarray(), y)
    assert one.share == pytest.approx(other.share, rel=1e-10)
    np.testing.assert_allclose(one.lost, other.lost, rtol=1e-10)


# -- large tables --------------------------------------------------------------------------


@pytest.fixture
def small_limit(monkeypatch):
    """Tables of more than ten thousand values are large."""
    monkeypatch.setattr(_sparse, "FEW_VALUES", 10_000)
    monkeypatch.setattr(_base, "MAX_DENSE_VALUES", 10_000)
    monkeypatch.setattr(_base, "POOL_VALUES", 40_000)
    monkeypatch.setattr(parameters, "SPARSE_POOLS", (40, 60))
    for module in (baselines.mrmr, baselines._graph_selector):
        monkeypatch.setattr(module, "FEW_VALUES", 10_000)


def rare_words(n=1_500, m=900, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, m), density=0.01, rng=rng, format="csr")
    return X, np.asarray(X[:, [5, 400, 899]].sum(axis=1)).ravel()


@pytest.mark.parametrize("selector", [L1LSMI(3, random_state=0), L1HSIC(3, random_state=0)], ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_large_tables(small_limit, selector, task):
    X, effect = rare_words()
    found = clone(selector).fit(X, effect if task == "regression" else effect > 0)
    assert found.get_support(indices=True).tolist() == [5, 400, 899]
    assert found.pool_size_ == 60
    assert found.p_value_ < 1e-6
    assert found.set_params(pool=20).fit(X, effect).pool_size_ == 20
    assert found.get_support(indices=True).tolist() == [5, 400, 899]
    with pytest.raises(ValueError, match="pool=None, but X is sparse with 1,500 rows and 900 columns"):
        clone(selector).set_params(pool=None).fit(X, effect)


def test_too_many_features_of_a_large_table(small_limit):
    X = sparse.random_array((200, 5_000), density=0.01, rng=np.random.default_rng(0), format="csc")
    with pytest.raises(ValueError, match="2,500 features are to be selected, but X is sparse with 200 rows"):
        L1LSMI().fit(X, np.arange(200) % 2)
    with pytest.raises(ValueError, match="from which MRMR selects 500 features at most, but 2,"):
        baselines.MRMR().fit(X, np.arange(200) % 2)


@pytest.mark.parametrize("name", ["MRMR", "QPFS", "LassoK", "ReliefF", "SPEC", "LaplacianScore"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_baselines_on_large_tables_say_what_they_chose_from(small_limit, name):
    X, effect = rare_words()
    found = getattr(baselines, name)(3).fit(X, effect)
    assert (
        f"{name} considers only the 50 columns with the largest effects of their own." in found.warnings_[-1]
    )
    assert set(found.get_support(indices=True)) <= set(np.flatnonzero(found.ranking_ <= 48))
    if name in ("LassoK", "QPFS"):
        assert found.get_support(indices=True).tolist() == [5, 400, 899]


def test_without_a_target_a_large_table_is_refused(small_limit):
    X, _ = rare_words()
    for name in ("SPEC", "LaplacianScore"):
        with pytest.raises(ValueError, match=f"without a target {name} takes at most"):
            getattr(baselines, name)(3, graph="unsupervised").fit(X)


def test_a_strategy_alone_searches_no_large_table(small_limit):
    X, effect = rare_words()
    with pytest.raises(ValueError, match="too many to search all columns: use FeatureSelector"):
        Ranking().select(Pearson(), X, effect, 3)


def test_chance_of_rare_effects():
    """A bound holds where sums are far from normal: few rows are not 0, and few are of one class."""
    rng = np.random.default_rng(0)
    X = SparseMatrix.of(sparse.random_array((2_000, 3_000), density=0.002, rng=rng, format="csc"))
    bounds = []
    for _ in range(20):
        y = np.zeros(2_000, dtype=int)
        y[rng.choice(2_000, 20, replace=False)] = 1
        target = check_target(y, "classification")
        bounds.append(chances_of_effects(effects_of_entries(X, target), target).min())
    assert np.quantile(bounds, 0.1) > 0.1
    present = np.asarray(X.dense(None, np.array([7]))[:, 0] > 0).astype(int)
    target = check_target(present, "classification")
    effects = effects_of_entries(X, target)
    assert effects.argmax() == 7 and chances_of_effects(effects, target).min() < 1e-3


def test_effects_are_those_of_correlations():
    """Of many rows of each kind, the exponent is half of n times the squared correlation."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 3)) * (rng.random((20_000, 3)) < 0.5)
    target = check_target(x[:, 1] * 0.05 + rng.normal(size=20_000), "regression")
    found = effects_of_entries(SparseMatrix.of(sparse.csc_array(x)), target)
    expected = 10_000 * np.corrcoef(x[:, 1], target.columns[:, 0])[0, 1] ** 2
    assert 0.7 * expected < found[1] < expected


# -- the matrix itself ---------------------------------------------------------------------


def test_pieces_of_a_matrix():
    X = counts(50, 30)
    S = SparseMatrix.of(sparse.csc_array(X))
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 50, 70), rng.permutation(30)[:7]
    np.testing.assert_array_equal(S.dense(), X)
    np.testing.assert_array_equal(S.dense(rows, columns), X[np.ix_(rows, columns)])
    np.testing.assert_array_equal(S.rows_of(rows).dense(), X[rows])
    np.testing.assert_array_equal(S[10:20, :].dense(), X[10:20])
    np.testing.assert_array_equal(
        S[10:20, :].dense(np.array([3, 3, 1]), columns), X[10:20][[3, 3, 1]][:, columns]
    )
    np.testing.assert_array_equal(S[10:40, :][5:9, :].rows_of(np.array([2, 0])).dense(), X[[17, 15]])
    np.testing.assert_array_equal(S[5:45, :].columns_of(columns).dense(), X[5:45][:, columns])
    np.testing.assert_array_equal(np.hstack([piece for _, piece in S.pieces(120)]), X)
    np.testing.assert_array_equal(S.occupied(), X.any(axis=0))
    assert S.shape == (50, 30) and S[10:20, :].shape == (10, 30)
    with pytest.raises(IndexError, match="only consecutive rows"):
        S[::2, :]


def test_many_chunks(monkeypatch):
    monkeypatch.setattr(_sparse, "CHUNK_ENTRIES", 10)
    monkeypatch.setattr(_sparse, "ORDERED_ENTRIES", 5)
    test_pieces_of_a_matrix()


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_are_those_of_dense_columns(weighted):
    rng = np.random.default_rng(0)
    X = counts(200, 20)
    X[:, 3] *= 1e300
    X[:, 4] = 1e6 + rng.normal(size=200)
    X[:, 5] = 7.0
    X[:, 6] *= -1e-200
    weights = rng.random(200) if weighted else None
    S = SparseMatrix.of(sparse.csc_array(X))
    np.testing.assert_array_equal(ranges_of(S), (X.min(axis=0), X.max(axis=0)))
    mean, scale = column_statistics(X, weights)
    np.testing.assert_array_equal(column_statistics(S, weights), (mean, scale))
    found = moments_of(S, weights)
    np.testing.assert_allclose(found[0], mean, rtol=1e-13)
    varies = scale > 0
    np.testing.assert_allclose(found[1][varies], scale[varies], rtol=1e-9)
    limits = np.stack([np.full(20, -np.inf), np.full(20, 1.5)])
    clipped = column_statistics(np.minimum(X, 1.5), weights)
    np.testing.assert_allclose(moments_of(S, weights, limits)[0], clipped[0], rtol=1e-12)


def test_statistics_of_large_tables(small_limit):
    X = counts(300, 50)
    table = Table.of(SparseMatrix.of(sparse.csc_array(X)))
    mean, scale = column_statistics(X)
    assert is_large_sparse(table)
    np.testing.assert_allclose(table.mean, mean, rtol=1e-13)
    np.testing.assert_allclose(table.scale, scale, rtol=1e-12)
    some = table.read_columns(np.array([3, 8, 11]))
    np.testing.assert_array_equal(
        some.take(np.arange(9), np.array([8, 11])), table.take(np.arange(9), np.array([8, 11]))
    )


# -- memory --------------------------------------------------------------------------------

FIT = """
from pathlib import Path
import numpy as np
from scipy import sparse
from l1lsmi import L1LSMI
X = sparse.random_array((20_000, 50_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
y = np.random.default_rng(1).normal(size=20_000) + 5 * (X[:, [10, 20_000, 49_999]].sum(axis=1) > 0)
selector = L1LSMI(3, p_value=False, random_state=0).fit(X, y)
assert selector.transform(X).shape == (20_000, 3)
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:")))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak memory from /proc")
def test_memory():
    """A dense array would have 8 GB.

    The peak that `resource` gives is of no use: a program starts with that of the process which started it.
    """
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIT], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) < 700


def test_feature_selector_ranks_large_tables(small_limit):
    X, effect = rare_words()
    found = FeatureSelector(Pearson(), Ranking(), 3).fit(X, effect)
    assert found.get_support(indices=True).tolist() == [5, 400, 899]
