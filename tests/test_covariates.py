"""Features that matter beyond covariates."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._numerics.held_out import additive_basis, least_squares
from l1lsmi._numerics.residual_target import residual_target
from l1lsmi._rows.appended import append_columns
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.sources import open_rows
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Paper, L1Path, Ranking

PROXY, TRUE = 3, 5
KINDS = ["linear", "nonlinear", "interaction", "classes", "xor"]
TARGETS = {
    "linear": lambda z, t, noise: 2 * z + t + 0.5 * noise,
    "nonlinear": lambda z, t, noise: 2 * np.sin(2 * z) + t**2 + 0.3 * noise,
    "interaction": lambda z, t, noise: z * t + z + 0.3 * noise,
    "classes": lambda z, t, noise: (2 * z + 1.5 * t + 0.3 * noise > 0).astype(int),
    "xor": lambda z, t, noise: (z * t > 0).astype(int),
}


def proxy_data(kind, seed, *, copy=False, n=200, m=8):
    """A target that depends on a covariate and on one feature, beside a proxy of the covariate."""
    rng = np.random.default_rng(seed)
    z, X = rng.normal(size=n), rng.normal(size=(n, m))
    X[:, PROXY] = z + 0.2 * rng.normal(size=n) if copy else 0.8 * z + 0.6 * rng.normal(size=n)
    return X, TARGETS[kind](z, X[:, TRUE], rng.normal(size=n)), z


@pytest.mark.parametrize("cls", [L1LSMI, L1HSIC])
@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_is_dropped_and_the_true_feature_kept(cls, kind, copy):
    for seed in range(3):
        X, y, z = proxy_data(kind, seed, copy=copy)
        selector = cls(1, p_value=False, pool=None, random_state=0).fit(X, y, covariates=z)
        assert selector.get_support(indices=True).tolist() == [TRUE], seed


@pytest.mark.parametrize("strategy", [Ranking(), Forward(), Backward(), Exhaustive(), L1Paper(n_restarts=10)])
@pytest.mark.parametrize("measure", [HSIC(), SquaredMutualInformation(n_basis=50)])
def test_every_strategy_sees_covariates(measure, strategy):
    if isinstance(strategy, L1Paper) and not isinstance(measure, HSIC):
        pytest.skip("it maximises the estimate, which rises with copies of covariates")
    X, y, z = proxy_data("linear", 0, copy=True, m=6)
    selector = FeatureSelector(measure, strategy, 1, random_state=0).fit(X, y, covariates=z)
    assert selector.get_support(indices=True).tolist() == [TRUE]
    assert selector.support_.shape == selector.ranking_.shape == (6,) and selector.n_covariates_ == 1
    assert all(step.support.max(initial=0) < 6 for step in selector.path_)


def test_the_number_of_features_beyond_covariates():
    X, y, z = proxy_data("linear", 0, copy=True)
    selector = L1HSIC("auto", random_state=0).fit(X, y, covariates=z)
    assert selector.get_support(indices=True).tolist() == [TRUE] and selector.p_value_ < 0.01
    assert selector.frequency_.shape == (8,) and selector.frequency_[TRUE] == 1
    alone = L1HSIC("auto", random_state=0).fit(X, y)
    assert alone.support_[PROXY]
    # What is left beside the covariate is a smaller share of the target than all that is predicted.
    assert 0 < selector.validation_.mean.max() <= 1 and selector.validation_.mean[0] == 0


@pytest.mark.parametrize("cls", [L1LSMI, L1HSIC])
def test_covariates_alone_are_no_evidence(cls):
    found = []
    for seed in range(3):
        X, _, z = proxy_data("linear", seed)
        y = 2 * z + np.random.default_rng(seed + 100).normal(size=len(z))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(cls(2, random_state=0).fit(X, y, covariates=z))
    assert sum(selector.p_value_ > 0.01 for selector in found) >= 2
    told = [" ".join(selector.warnings_) for selector in found if selector.p_value_ > 0.05]
    assert all(
        "There is no evidence that the selected features predict y beyond covariates" in words
        for words in told
    )


def test_scores_are_gains_over_covariates_alone():
    X, y, z = proxy_data("linear", 0)
    both = np.column_stack([X[:, [TRUE]], z])
    measure = SquaredMutualInformation(random_state=0)
    gain = measure.score(X[:, [TRUE]], y, covariates=z)
    assert gain == pytest.approx(measure.score(both, y) - measure.score(z[:, None], y)) and gain > 0.01
    assert measure.score(X[:, [PROXY]], y, covariates=z) < gain / 3
    assert HSIC().score(X[:, [TRUE]], y, covariates=z) > 3 * HSIC().score(X[:, [PROXY]], y, covariates=z)
    other = MutualInformation(random_state=0)
    difference = other.score(both, y) - other.score(z[:, None], y)
    assert other.score(X[:, [TRUE]], y, covariates=z) == pytest.approx(difference)
    selector = FeatureSelector(measure, Forward(), 1, random_state=0).fit(X, y, covariates=z)
    assert selector.score_ == pytest.approx(gain, rel=0.05)
    weighted = L1LSMI(1, random_state=0).fit(X, y, covariates=z)
    assert 0 < weighted.smi_ < L1LSMI(2, random_state=0).fit(both, y).smi_ and weighted.cv_score_ < 0
    assert weighted.radius_ == pytest.approx(weighted.weights_.sum())


def test_covariates_with_constraints_and_several_columns():
    X, y, z = proxy_data("interaction", 1)
    Z = pd.DataFrame({"age": z, "sex": np.arange(200) % 2, "site": 1.0})
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    groups = {"a": ["x0", f"x{TRUE}"], "b": ["x1", f"x{PROXY}"]}
    selector = L1LSMI(2, feature_groups=groups, must_include=["x7"], random_state=0)
    selector.fit(frame, y, covariates=Z)
    assert selector.get_feature_names_out().tolist() == ["x0", "x5", "x7"]
    assert selector.n_covariates_ == 2  # one of them is constant
    assert selector.support_for(1).sum() == 1 and selector.transform(frame).shape == (200, 3)


def test_blocks_and_dask_give_the_same_set():
    da = pytest.importorskip("dask.array")
    X, y, z = proxy_data("nonlinear", 2, copy=True)
    here = L1LSMI(1, random_state=0, p_value=False, pool=None).fit(X, y, covariates=z)
    sources = [
        (lambda: iter([(X[:70], y[:70]), (X[70:], y[70:])]), None),
        (da.from_array(X, chunks=(60, -1)), y),
    ]
    for rows, target in sources:
        there = L1LSMI(1, random_state=0, p_value=False, pool=None, memory_limit=10**5, explore_rows=150)
        there.fit(rows, target, covariates=z)
        assert (here.support_ == there.support_).all()
        weights = np.arange(len(y)) % 3
        weighted = there.fit(rows, target, covariates=z, sample_weight=weights).smi_
        assert weighted == pytest.approx(there.fit(X, y, covariates=z, sample_weight=weights).smi_, rel=1e-9)


def test_columns_are_appended_to_blocks():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    whole = Table.of(np.hstack([x, z]))
    opened = open_rows(lambda: iter([x[:11], x[11:]]), np.arange(30.0)).table
    for table in (append_columns(Table.of(x), z), append_columns(opened, z)):
        assert table.n_columns == 6 and np.allclose(table.mean, whole.mean)
        for columns in ([0, 3, 5], [4], [1], range(6)):
            part = table.read_columns(np.array(columns))
            columns = np.array(columns)
            assert np.allclose(part.take(np.arange(30), columns), whole.take(np.arange(30), columns))
        assert np.allclose(table.rows_of(np.array([2, 17])).x, np.hstack([x, z])[[2, 17]])


@pytest.mark.xdist_group("cluster")
@pytest.mark.filterwarnings("ignore:Port", "ignore::ResourceWarning")
def test_a_cluster_joins_columns_where_rows_are():
    distributed = pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    X, y, z = proxy_data("linear", 3, n=120, m=6)
    cluster = distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None)
    with cluster, distributed.Client(cluster):
        selector = L1HSIC(1, must_exclude=[0], random_state=0, p_value=False, pool=None)
        selector.fit(da.from_array(X, chunks=(50, -1)), y, covariates=z)
    assert selector.get_support(indices=True).tolist() == [TRUE]


def test_metadata_routing_hands_covariates_to_the_selector():
    X, y, z = proxy_data("classes", 0, copy=True)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = L1HSIC(1, p_value=False, pool=None, random_state=0).set_fit_request(covariates=True)
        pipeline = make_pipeline(selector, LogisticRegression()).fit(X, y, covariates=z)
    assert pipeline[0].get_support(indices=True).tolist() == [TRUE]


def test_residuals_do_not_depend_on_covariates():
    rng = np.random.default_rng(0)
    z = rng.normal(size=400)
    for y in (np.sin(2 * z) + 0.1 * rng.normal(size=400), (z + 0.5 * rng.normal(size=400) > 0).astype(int)):
        left = residual_target(check_target(y, "auto"), z[:, None]).columns
        assert (left**2).mean(axis=0).sum() == pytest.approx(1)
        assert np.abs([np.corrcoef(left[:, 0], f(z))[0, 1] for f in (np.tanh, np.sin, np.cos)]).max() < 0.15


BAD = {
    "rows": (np.zeros(199), r"covariates has shape \(199, 1\), but X has 200 rows"),
    "three dimensions": (np.zeros((200, 2, 2)), r"covariates has shape \(200, 2, 2\), but X has 200 rows"),
    "missing": (
        np.where(np.arange(200) == 7, np.nan, 1.0),
        "missing or infinite value, first in row 7",
    ),
    "none": ([None, *range(199)], "missing or infinite value, first in row 0 of column 0"),
    "text": (["a", "b"] * 100, "covariates must be numbers, or a dataframe with categories"),
    "dates": (np.arange(200).astype("datetime64[D]"), "covariates must be numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_covariates_get_one_sentence(case):
    X, y, _ = proxy_data("linear", 0)
    covariates, words = BAD[case]
    for fit in (L1LSMI(1).fit, HSIC().score):
        with pytest.raises(ValueError, match=words) as error:
            fit(X, y, covariates=covariates)
        assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_a_measure_of_single_columns_refuses_covariates():
    X, y, z = proxy_data("linear", 0)
    with pytest.raises(ValueError, match="covariates are given, but Pearson scores one feature at a time"):
        FeatureSelector(Pearson(), Ranking(), 1).fit(X, y, covariates=z)
    with pytest.raises(ValueError, match="covariates are given, but Pearson scores one feature at a time"):
        Pearson().score(X, y, covariates=z)


def test_constant_covariates_change_no_scores():
    X, y, _ = proxy_data("linear", 0, m=6)
    plain = FeatureSelector(HSIC(), Forward(), 2).fit(X, y)
    beside = FeatureSelector(HSIC(), Forward(), 2).fit(X, y, covariates=np.ones(200))
    assert (plain.support_ == beside.support_).all() and beside.n_covariates_ == 0
    assert plain.score_ == pytest.approx(beside.score_)


def test_the_default_strategy_is_the_path():
    X, y, z = proxy_data("xor", 0)
    selector = FeatureSelector(
        SquaredMutualInformation(), L1Path(), 1, random_state=0, p_value=False, pool=None
    )
    assert selector.fit(X, y, covariates=z).get_support(indices=True).tolist() == [TRUE]


@pytest.mark.parametrize("seed", range(3))
def test_features_that_copy_covariates_are_no_evidence(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(240, 5))
    y = Z[:, 0] + 0.5 * rng.normal(size=240)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copies = L1LSMI(2, random_state=0).fit(Z, y, covariates=Z)
        noisy = L1LSMI(2, random_state=0).fit(Z + 0.5 * rng.normal(size=Z.shape), y, covariates=Z)
    assert copies.p_value_ > 0.01 and noisy.p_value_ > 0.01


def test_an_additive_basis_has_fewer_powers_of_many_columns():
    rng = np.random.default_rng(0)
    assert additive_basis(rng.normal(size=(100, 2))).shape == (100, 7)
    assert additive_basis(rng.normal(size=(100, 5))).shape == (100, 11)
    basis = additive_basis(rng.normal(size=(100, 30)))
    assert basis.shape == (100, 31) and np.abs(basis).max() <= 3
    functions, weights = rng.normal(size=(100, 2)), rng.integers(1, 4, 100).astype(float)
    rows = np.repeat(np.arange(100), weights.astype(int))
    found, expected = (
        least_squares(basis, functions, weights),
        least_squares(basis[rows], functions[rows], None),
    )
    np.testing.assert_allclose(found, expected, atol=1e-2)
