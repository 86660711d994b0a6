"""Weighting a row by a whole number is repeating it, for every selector and wherever the rows are."""

import warnings

import numpy as np
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, PredefinedSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._arrays import to_numpy
from l1lsmi._rows.distinct import Arrangement, are_different, arrange, row_hashes
from l1lsmi._validation.rows import read_rows
from l1lsmi.baselines import MRMR, QPFS, SPEC, LaplacianScore, LassoK, ReliefF
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Forward, L1Path, Ranking
from tests.conftest import TASKS, has_module, problem_data, to_library
from tests.matrix import MEASURES, SELECTORS, STRATEGIES, combine

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
N = 60
#: Every measure with every strategy that can use it.
MATRIX = [
    (measure, strategy)
    for measure in MEASURES
    for strategy in STRATEGIES
    if measure != "Pearson" or strategy == "Ranking"
]
BASELINES = {
    "MRMR": MRMR(2),
    "MRMR, bins": MRMR(2, n_bins=4, scheme="quotient"),
    "MRMR, knn": MRMR(2, relevance="knn", random_state=0),
    "MRMR, f": MRMR(2, relevance="f"),
    "QPFS": QPFS(2),
    "QPFS, Nystroem": QPFS(2, n_nystrom=3, random_state=0),
    "LassoK": LassoK(2),
    "ReliefF": ReliefF(2),
    "ReliefF, all": ReliefF(2, n_neighbors="all", miss_weights="prior"),
    "LaplacianScore": LaplacianScore(2, n_neighbors=4),
    "LaplacianScore, unsupervised": LaplacianScore(2, graph="unsupervised"),
    "SPEC": SPEC(2, n_neighbors=4),
    "SPEC, phi1": SPEC(2, n_neighbors=4, criterion="phi1"),
    "SPEC, unsupervised": SPEC(2, graph="unsupervised"),
}


def data(task="classification", discrete=False, n=N):
    X, y = problem_data(task, n=n)
    if discrete:
        X = np.round(X).clip(-1, 1)
        y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5]) if task == "classification" else X[:, 0] * X[:, 1]
    return X, y


def counts(n=N, least=0):
    return np.random.default_rng(5).integers(least, 4, size=n)


def repeated(w, *arrays, shuffled=True):
    rows = np.repeat(np.arange(len(w)), w)
    if shuffled:
        rows = np.random.default_rng(1).permutation(rows)
    return [array[rows] for array in arrays]


def assert_same(one, other, tolerance=1e-10):
    """Check that everything that two selectors have learned is the same."""
    learned = {name for name in vars(one) if name.endswith("_") and name != "warnings_"}
    assert learned == {name for name in vars(other) if name.endswith("_") and name != "warnings_"}
    for name in learned:
        a, b = getattr(one, name), getattr(other, name)
        if isinstance(a, np.ndarray) and a.dtype.kind == "O":
            np.testing.assert_array_equal(a, b)
        elif isinstance(a, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=name)
        elif isinstance(a, float):
            assert a == pytest.approx(b, rel=tolerance, abs=tolerance), name
        elif name == "validation_" and a is not None:
            np.testing.assert_allclose(a.mean, b.mean, rtol=tolerance, atol=tolerance)
            assert (a.best_k, a.best_pool) == (b.best_k, b.best_pool)
    np.testing.assert_array_equal(one.support_, other.support_)


# -- in memory ---------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("measure", "strategy"), MATRIX)
def test_every_measure_and_strategy(measure, strategy, task):
    X, y = data(task)
    w = counts()
    selector = combine(measure, strategy, 2, random_state=0)
    assert_same(selector.fit(X, y, w), clone(selector).fit(*repeated(w, X, y)))


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "discrete"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline(name, task, discrete):
    X, y = data(task, discrete)
    w = counts()
    selector = BASELINES[name]
    assert_same(clone(selector).fit(X, y, w), clone(selector).fit(*repeated(w, X, y)))


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "discrete"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    "selector",
    [L1LSMI(2), L1LSMI("auto"), L1LSMI(2, algorithm="paper", n_restarts=2, random_state=0), L1HSIC(2)],
    ids=["path", "auto", "paper", "HSIC"],
)
def test_selectors(selector, task, discrete):
    X, y = data(task, discrete, n=90)
    w = counts(90)
    assert_same(clone(selector).fit(X, y, sample_weight=w), clone(selector).fit(*repeated(w, X, y)))


@pytest.mark.parametrize(
    ("selector", "shape"),
    [(L1LSMI(2, explore_rows=100, random_state=0), (200, 5)), (L1LSMI(2), (40, 120)), (L1HSIC(2), (40, 120))],
    ids=["sample", "pools", "pools of HSIC"],
)
def test_samples_and_pools(selector, shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=shape[0])
    w = counts(shape[0])
    assert_same(clone(selector).fit(X, y, sample_weight=w), clone(selector).fit(*repeated(w, X, y)))


@pytest.mark.parametrize("name", ["L1LSMI", "FeatureSelector, forward", "ReliefF", "SPEC, unsupervised"])
def test_rows_of_weight_zero_are_left_out(name):
    X, y = data()
    w = np.arange(N) % 3 > 0
    weighted = clone(SELECTORS[name]).fit(X, y, sample_weight=w)
    assert_same(weighted, clone(SELECTORS[name]).fit(X[w], y[w]), 0.0)


@pytest.mark.parametrize("w", [1.0, np.ones(N), np.full(N, 0.3), 7], ids=["one", "ones", "equal", "number"])
def test_equal_weights_change_nothing(w):
    X, y = data()
    for selector in (L1LSMI(2), QPFS(2), LaplacianScore(2, graph="unsupervised")):
        assert_same(clone(selector).fit(X, y, sample_weight=w), clone(selector).fit(X, y), 0.0)


@pytest.mark.parametrize("factor", [1e-300, 0.37, 1e300])
def test_only_ratios_of_weights_matter(factor):
    X, y = data()
    w = counts(least=1) + np.random.default_rng(0).random(N)
    for selector in (L1LSMI(2), MRMR(2), ReliefF(2)):
        assert_same(clone(selector).fit(X, y, w), clone(selector).fit(X, y, factor * w), 1e-9)


@pytest.mark.parametrize("name", ["HSIC", "SquaredMutualInformation", "MutualInformation", "Pearson"])
@pytest.mark.parametrize("task", TASKS)
def test_scores_of_measures(name, task):
    X, y = data(task)
    w, measure = counts(), clone(MEASURES[name])
    if "random_state" in measure.get_params():
        measure.set_params(random_state=0)
    again = repeated(w, X, y)
    assert measure.score(X, y, sample_weight=w) == pytest.approx(measure.score(*again), rel=1e-10)
    np.testing.assert_allclose(measure.score_each(X, y, w), measure.score_each(*again), rtol=1e-10)
    if hasattr(measure, "estimate"):
        assert measure.estimate(X, y, w).value == pytest.approx(measure.estimate(*again).value, rel=1e-10)


def test_strategies_take_weights():
    X, y = data()
    w = counts()
    for strategy in (Ranking(), Forward(), L1Path()):
        one = strategy.select(SquaredMutualInformation(n_basis=20), X, y, 2, sample_weight=w, random_state=0)
        other = strategy.select(SquaredMutualInformation(n_basis=20), *repeated(w, X, y), 2, random_state=0)
        assert one.score == pytest.approx(other.score, rel=1e-10)
        np.testing.assert_array_equal(one.support, other.support)


def test_groups_and_splitters_go_along():
    X, y = data(n=80)
    w, groups, folds = counts(80), np.arange(80) // 4, np.arange(80) % 4
    again = repeated(w, X, y, groups, folds)
    assert_same(
        L1LSMI(2).fit(X, y, sample_weight=w, groups=groups), L1LSMI(2).fit(*again[:2], groups=again[2])
    )
    one = L1LSMI(2, cv=PredefinedSplit(folds)).fit(X, y, sample_weight=w)
    assert_same(one, L1LSMI(2, cv=PredefinedSplit(again[3])).fit(*again[:2]))
    measure = SquaredMutualInformation(n_basis=20, cv=PredefinedSplit(folds))
    measure.set_params(random_state=0)
    expected = clone(measure).set_params(cv=PredefinedSplit(again[3])).score(*again[:2])
    assert measure.score(X, y, w) == pytest.approx(expected, rel=1e-10)


def test_splits_may_be_listed():
    X, y = data()
    splits = list(KFold(4).split(X))
    assert_same(L1LSMI(2, cv=splits).fit(X, y), L1LSMI(2, cv=KFold(4)).fit(X, y), 0.0)


# -- what weights mean -------------------------------------------------------------------------


def test_weights_are_those_of_weighted_correlation():
    X, y = data("regression")
    w = np.random.default_rng(0).random(N)
    expected = [abs(np.cov(x, y, aweights=w)[0, 1]) for x in X.T]
    expected /= np.sqrt([np.cov(x, aweights=w) for x in X.T]) * np.sqrt(np.cov(y, aweights=w))
    np.testing.assert_allclose(Pearson().score_each(X, y, w), expected, rtol=1e-10)


@pytest.mark.parametrize("selector", [L1LSMI(1), L1HSIC(1), *BASELINES.values()], ids=repr)
@pytest.mark.parametrize("task", TASKS)
def test_heavy_rows_decide(selector, task):
    # In some rows the target depends on one column, in the others on another.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    first = np.arange(200) < 100
    signal = np.where(first, X[:, 1], X[:, 3])
    y = signal > 0 if task == "classification" else signal + 0.1 * rng.normal(size=200)
    if "unsupervised" in repr(selector):
        pytest.skip("looks at no target")
    for half, column in ((first, 1), (~first, 3)):
        w = np.where(half, 1.0, 0.05) * (1 + 0.1 * rng.random(200))
        found = clone(selector).set_params(n_features_to_select=1).fit(X, y, sample_weight=w)
        assert found.get_support(indices=True).tolist() == [column]


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("task", TASKS)
def test_nearly_equal_weights_change_little(name, task):
    """The formulas with weights are those without."""
    X, y = data(task, n=150)
    w = 1 + 1e-9 * np.random.default_rng(0).random(150)
    one, other = clone(BASELINES[name]).fit(X, y, w), clone(BASELINES[name]).fit(X, y)
    np.testing.assert_array_equal(one.support_, other.support_)
    finite = np.isfinite(other.scores_)
    # Of nearest neighbours, ties are told apart by noise.
    tolerance = 1e-3 if "knn" in name else 1e-6
    np.testing.assert_allclose(one.scores_[finite], other.scores_[finite], rtol=tolerance, atol=tolerance)


def test_copies_of_rows_are_no_evidence():
    # Each row ten times: what was fitted to one copy must not be judged by another.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), rng.integers(0, 2, 40)
    selector = L1LSMI("auto").fit(np.repeat(X, 10, axis=0), np.repeat(y, 10))
    assert_same(selector, L1LSMI("auto").fit(X, y), 0.0)
    assert not selector.support_.any()


def test_p_values_are_calibrated_whatever_the_weights():
    p_values = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
        w = rng.exponential(size=60) ** 2 * (1 + (y > 0))
        selector = FeatureSelector(HSIC(), L1Path(n_restarts=2), 1).fit(X, y, sample_weight=w)
        p_values.append(selector.p_value_ if selector.p_value_ is not None else 1.0)
    assert np.mean(np.array(p_values) < 0.05) < 0.15
    assert 0.3 < np.mean(p_values) < 0.7


def test_discrete_rows_count_one_by_one():
    # Four different rows, a thousand times: not four observations.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(1000, 3)).astype(float)
    y = X[:, 1] != (rng.random(1000) < 0.1)
    selector = L1LSMI("auto").fit(X, y)
    assert selector.get_support(indices=True).tolist() == [1]
    assert selector.p_value_ < 1e-4
    rows, w = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    assert_same(L1LSMI("auto").fit(rows[:, :3], rows[:, 3] > 0, sample_weight=w), selector)


# -- other roads -------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("selector", [L1LSMI(2), L1HSIC(2), ReliefF(2)], ids=["L1LSMI", "L1HSIC", "ReliefF"])
def test_array_libraries(selector, task, library):
    X, y = data(task)
    w = counts()
    here = clone(selector).fit(X, y, w)
    weighted = clone(selector).fit(to_library(X, library), y, to_library(w, library))
    assert_same(weighted, clone(selector).fit(*(to_library(a, library) for a in repeated(w, X, y))))
    np.testing.assert_array_equal(here.support_, weighted.support_)


def blocks_of(*arrays, size=17):
    cuts = range(size, len(arrays[0]), size)
    parts = list(zip(*(np.split(array, cuts) for array in arrays), strict=True))
    return lambda: iter(parts)


OUT_OF_CORE = {
    "L1LSMI": L1LSMI(2),
    "L1HSIC": L1HSIC(2),
    "in passes": L1LSMI(2, memory_limit=20_000),
    "ranking": FeatureSelector(HSIC(), Ranking(), 2),
    "forward": FeatureSelector(SquaredMutualInformation(n_basis=20), Forward(), 2, random_state=0),
}


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "discrete"])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", OUT_OF_CORE)
def test_blocks(name, task, discrete):
    X, y = data(task, discrete, n=130)
    w, selector = counts(130), OUT_OF_CORE[name]
    again = clone(selector).fit(blocks_of(*repeated(w, X, y), size=40))
    assert_same(clone(selector).fit(blocks_of(X, y), sample_weight=w), again)
    assert_same(clone(selector).fit(blocks_of(X, y, w)), again)
    # Rows are the same ones, wherever they are.
    assert_same(clone(selector).fit(X, y, sample_weight=w), again, 1e-7)


@pytest.mark.skipif(not has_module("pyarrow"), reason="needs pyarrow")
def test_files(tmp_path):
    import pandas as pd

    X, y = data(n=130)
    w = counts(130)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.assign(y=y, w=w).to_parquet(tmp_path / "weighted.parquet", row_group_size=50)
    rows = np.repeat(np.arange(130), w)
    frame.assign(y=y).iloc[rows].to_parquet(tmp_path / "repeated.parquet", index=False)
    weighted = L1LSMI(2).fit(tmp_path / "weighted.parquet", "y", sample_weight="w")
    assert_same(weighted, L1LSMI(2).fit(tmp_path / "repeated.parquet", "y"))
    assert weighted.feature_names_in_.tolist() == list("abcdef")
    with pytest.raises(ValueError, match=r"sample_weight is 'v', but .* has no such column"):
        L1LSMI(2).fit(tmp_path / "weighted.parquet", "y", sample_weight="v")


@pytest.mark.skipif(not has_module("dask"), reason="needs dask")
@pytest.mark.parametrize("with_cluster", [False, True], ids=["chunks", "cluster"])
def test_dask(with_cluster):
    da = pytest.importorskip("dask.array")
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    distributed = pytest.importorskip("distributed")
    X, y = data(n=130)
    w = counts(130)
    client = None
    if with_cluster:
        client = distributed.Client(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        )
    try:
        weighted = L1LSMI(2).fit(da.from_array(X, chunks=(40, 6)), y, sample_weight=w)
        again = repeated(w, X, y)
        assert_same(weighted, L1LSMI(2).fit(da.from_array(again[0], chunks=(50, 6)), again[1]))
        if not with_cluster:
            frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y, w=w)
            named = L1LSMI(2).fit(dd.from_pandas(frame, npartitions=3), "y", sample_weight="w")
            assert named.feature_names_in_.tolist() == list("abcdef")
            np.testing.assert_allclose(named.weights_, weighted.weights_, rtol=1e-10)
    finally:
        if client is not None:
            client.close()


# -- classes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.5}], ids=["balanced", "dict"])
@pytest.mark.parametrize(
    "selector",
    [L1LSMI(2), L1HSIC(2), FeatureSelector(Pearson(), Ranking(), 2)],
    ids=["LSMI", "HSIC", "Pearson"],
)
def test_class_weights_are_weights_of_rows(selector, class_weight):
    X, y = data()
    sizes = np.bincount(y)
    of_class = N / (3 * sizes) if class_weight == "balanced" else np.array([2.0, 1.0, 0.5])
    one = clone(selector).set_params(class_weight=class_weight).fit(X, y)
    other = clone(selector).fit(X, y, sample_weight=of_class[y])
    np.testing.assert_array_equal(one.support_, other.support_)
    if isinstance(selector, FeatureSelector):
        np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-10)


@pytest.mark.parametrize("discrete", [False, True], ids=["continuous", "discrete"])
def test_class_weights_with_weights(discrete):
    X, y = data(discrete=discrete)
    w = counts()
    selector = L1LSMI(2, class_weight="balanced")
    assert_same(clone(selector).fit(X, y, w), clone(selector).fit(*repeated(w, X, y)))
    assert_same(clone(selector).fit(blocks_of(X, y, w)), clone(selector).fit(blocks_of(*repeated(w, X, y))))


@pytest.mark.parametrize(
    ("task", "class_weight", "words"),
    [
        ("regression", "balanced", "class_weight='balanced' is given, but y is numeric"),
        (
            "classification",
            {7: 1.0},
            "class_weight has the class 7, which is not in y: the classes of y are 0, 1, 2",
        ),
        ("classification", {0: -1.0}, "has weights that are not positive numbers"),
        ("classification", "even", "'class_weight' parameter"),
    ],
)
def test_refused_class_weights(task, class_weight, words):
    X, y = data(task)
    with pytest.raises(ValueError, match=words):
        L1LSMI(2, class_weight=class_weight).fit(X, y)


# -- refused -----------------------------------------------------------------------------------

NEGATIVE = np.where(np.arange(N) == 3, -1.0, 1.0)
REFUSED = [
    (NEGATIVE, "sample_weight is negative, first -1.0 in row 3: pass numbers of at least 0."),
    (np.where(NEGATIVE < 0, np.nan, 1.0), "sample_weight contains NaN, first in row 3"),
    (np.where(NEGATIVE < 0, np.inf, 1.0), "sample_weight contains infinity, first in row 3"),
    (np.zeros(N), "sample_weight is zero in every row"),
    ((np.arange(N) == 0) * 1.0, "sample_weight leaves n_samples=1"),
    (np.ones(N + 1), r"sample_weight has shape \(61,\), but X has 60 rows"),
    (np.ones((N, 2)), r"sample_weight has shape \(60, 2\), but X has 60 rows"),
    (["heavy"] * N, "sample_weight is a list that cannot be read as numbers"),
]


@pytest.mark.parametrize(("w", "words"), REFUSED, ids=[words[:30] for _, words in REFUSED])
def test_refused_weights(w, words):
    X, y = data()
    fits = [
        lambda: L1LSMI(2).fit(X, y, sample_weight=w),
        lambda: LassoK(2).fit(X, y, sample_weight=w),
        lambda: L1HSIC(2).fit(blocks_of(X, y), sample_weight=w),
        lambda: HSIC().score(X, y, sample_weight=w),
        lambda: Ranking().select(Pearson(), X, y, 2, sample_weight=w),
    ]
    for fit in fits:
        with pytest.raises(ValueError, match=words) as caught:
            fit()
        assert "\n" not in str(caught.value)


def test_what_is_left_must_tell_features_apart():
    X, y = data()
    with pytest.raises(ValueError, match="y has one class only"):
        L1LSMI(2).fit(X, y, sample_weight=(y == 1))
    same = np.where(np.arange(N)[:, None] < 30, X, 1.0)
    with pytest.raises(ValueError, match="X has only constant columns"):
        L1LSMI(2).fit(same, y, sample_weight=np.arange(N) >= 30)
    with pytest.raises(ValueError, match="The blocks of X have weights and sample_weight is given too"):
        L1LSMI(2).fit(blocks_of(X, y, counts()), sample_weight=counts())
    with pytest.raises(ValueError, match="X is a function that returns blocks"):
        L1LSMI(2).fit(blocks_of(X, y), sample_weight="w")


# -- scikit-learn ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SELECTORS)
def test_equivalence_check_of_scikit_learn(name):
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=1)
    check_sample_weight_equivalence_on_dense_data(name, selector)


def test_metadata_routing():
    X, y = data(n=120)
    w, groups = counts(120, least=1), np.arange(120) // 6
    with sklearn.config_context(enable_metadata_routing=True):
        selector = L1LSMI(2).set_fit_request(sample_weight=True, groups=True)
        model = LogisticRegression().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(selector, model)
        pipeline.fit(X, y, sample_weight=w, groups=groups)
        alone = L1LSMI(2).fit(X, y, sample_weight=w, groups=groups)
        assert_same(pipeline[0], alone, 0.0)
        search = GridSearchCV(pipeline, {"l1lsmi__n_features_to_select": [1, 2]}, cv=GroupKFold(3))
        search.fit(X, y, sample_weight=w, groups=groups)
        assert search.best_estimator_[0].support_.sum() == search.best_params_["l1lsmi__n_features_to_select"]
        found = cross_validate(
            pipeline, X, y, cv=GroupKFold(3), params={"sample_weight": w, "groups": groups}
        )
        assert found["test_score"].shape == (3,)
        for baseline in (MRMR(2), SPEC(2)):
            routed = make_pipeline(baseline.set_fit_request(sample_weight=True), LogisticRegression())
            routed[1].set_fit_request(sample_weight=False)
            routed.fit(X, y, sample_weight=w)
            np.testing.assert_array_equal(
                routed[0].support_, clone(baseline).fit(X, y, sample_weight=w).support_
            )


def test_fit_transform_takes_weights():
    X, y = data()
    w = counts()
    np.testing.assert_array_equal(
        MRMR(2).fit_transform(X, y, sample_weight=w), MRMR(2).fit(X, y, sample_weight=w).transform(X)
    )


# -- the form of rows --------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 5), min_size=2, max_size=40).filter(lambda w: sum(x > 0 for x in w) > 1),
    st.booleans(),
    st.integers(0, 1000),
)
def test_the_form_depends_on_the_rows_and_their_weights_alone(w, continuous, seed):
    w = np.array(w)
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(w.size, 2)) if continuous else rng.integers(0, 2, (w.size, 2)).astype(float)
    rows = rng.permutation(np.repeat(np.arange(w.size), w))
    forms = []
    for values, weights in ((X, w.astype(float)), (X[rows], None)):
        found = arrange(row_hashes(values), weights, 2, lambda rows: continuous)
        form = found or Arrangement(np.arange(len(values)), None)
        forms.append((values[form.rows], form.weights))
    assert (forms[0][1] is None) == (forms[1][1] is None)
    if forms[0][1] is not None:
        np.testing.assert_array_equal(forms[0][1], forms[1][1])
        np.testing.assert_array_equal(forms[0][0], forms[1][0])
    else:
        np.testing.assert_array_equal(
            np.sort(forms[0][0].view("f8,f8"), axis=0), np.sort(forms[1][0].view("f8,f8"), axis=0)
        )


def test_too_many_copies_stay_weights():
    X = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(float)
    w = np.random.default_rng(1).integers(10**8, 10**9, 50).astype(float)
    found = arrange(row_hashes(X), w, 3, lambda rows: False)
    np.testing.assert_array_equal(np.sort(found.rows), np.arange(50))
    np.testing.assert_allclose(found.weights, (w / w.mean())[found.rows])


def test_fractions_of_discrete_rows_stay_with_their_rows():
    X = np.random.default_rng(0).integers(0, 2, (50, 3)).astype(float)
    y = (X[:, 1] > 0) != (np.arange(50) % 7 == 0)
    w = np.random.default_rng(1).random(50)
    rows = read_rows(X, y, "auto", sample_weight=w)
    np.testing.assert_array_equal(np.sort(rows.arrangement.rows), np.arange(50))
    assert L1LSMI(1).fit(X, y, sample_weight=w).get_support(indices=True).tolist() == [1]


def test_nothing_changes_without_weights_or_copies():
    X, y = data()
    rows = read_rows(X, y, "classification")
    assert rows.arrangement is None and rows.table.x is X and rows.target.row_weights is None


def test_hashes():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(20_000, 30)).astype(float)
    different = len(np.unique(X, axis=0))
    assert np.unique(row_hashes(X)).size == different
    np.testing.assert_array_equal(row_hashes(X), row_hashes(X.astype(np.float32)))
    np.testing.assert_array_equal(row_hashes(np.array([[0.0, 1.0]])), row_hashes(np.array([[-0.0, 1.0]])))
    assert are_different(row_hashes(rng.normal(size=(1000, 1))))
    # Which column has which value matters.
    assert row_hashes(np.array([[1.0, 2.0]])) != row_hashes(np.array([[2.0, 1.0]]))


def test_warnings_are_about_rows_as_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    X[:, 2] = np.arange(200)
    y = np.arange(200) + 40 * rng.normal(size=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = L1LSMI(2).fit(X, y, sample_weight=rng.random(200))
    assert any(
        "number the rows" in sentence or "numbers the rows" in sentence for sentence in selector.warnings_
    )
    assert to_numpy(X).shape == (200, 4) and MutualInformation().score(X, y, rng.random(200)) > 0


def test_weights_that_are_lost_in_sums_count_as_zero():
    X, y = problem_data("classification", n=60)
    weights = np.ones(60)
    weights[40:] = 1e-200
    one = L1HSIC(2, random_state=0).fit(X, y, sample_weight=weights)
    other = L1HSIC(2, random_state=0).fit(X[:40], y[:40])
    assert one.hsic_ == other.hsic_ and np.array_equal(one.support_, other.support_)
    weights[1:] = 1e-200
    with pytest.raises(ValueError, match="at least 1e-15 times the largest weight"):
        L1HSIC(2).fit(X, y, sample_weight=weights)
