"""Clipping of columns with heavy tails."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi import L1HSIC, L1LSMI, datasets
from l1lsmi._numerics.target import Target
from l1lsmi._rows.stream import StreamTable
from l1lsmi._rows.table import Resources, Table
from l1lsmi._rows.tails import clip_tails, find_tails
from l1lsmi.datasets.toys import TRUE_FEATURES
from l1lsmi.measures import HSIC, SquaredMutualInformation
from l1lsmi.methods import METHODS


@pytest.fixture
def rng():
    return np.random.default_rng(0)


WELL_BEHAVED = {
    "normal": lambda rng: rng.normal(size=500),
    "uniform": lambda rng: rng.random(500),
    "exponential": lambda rng: rng.exponential(size=500),
    "balanced": lambda rng: rng.integers(0, 2, 500),
    "a quarter": lambda rng: rng.random(500) < 0.25,
    "five levels": lambda rng: rng.integers(0, 5, 500),
    "counts": lambda rng: rng.poisson(2, 500),
}
HEAVY = {
    "cauchy": lambda rng: rng.standard_cauchy(500),
    "lognormal": lambda rng: np.exp(2 * rng.normal(size=500)),
    "one outlier": lambda rng: np.append(rng.normal(size=499), 1e6),
    "rare": lambda rng: (np.arange(500) < 10).astype(float),
    "rare counts": lambda rng: rng.poisson(0.03, 500),
}


def no_target(n):
    return Target(np.zeros(n, dtype=np.intp))


def clipped(X, **options):
    return clip_tails(Table.of(X, **options), no_target(len(X)))


@pytest.mark.parametrize("kind", WELL_BEHAVED)
def test_well_behaved_columns_stay_as_they_are(rng, kind):
    X = np.column_stack([WELL_BEHAVED[kind](rng) for _ in range(3)]).astype(float)
    table = Table.of(X)
    assert clip_tails(table, no_target(500)) is table


@pytest.mark.parametrize("kind", HEAVY)
def test_heavy_columns_end_within_a_few_standard_units(rng, kind):
    x = np.asarray(HEAVY[kind](rng), dtype=float)[:, None]
    plain = Table.of(x).take(np.arange(500), np.array([0]))
    z = clipped(x).take(np.arange(500), np.array([0]))
    assert np.abs(plain).max() > 5
    assert np.abs(z).max() < 3.6
    order = np.argsort(x[:, 0], kind="stable")
    assert (np.diff(z[order, 0]) >= 0).all()


def test_a_rare_value_counts_less_than_a_frequent_one(rng):
    x = np.zeros((500, 2))
    x[:10, 0], x[:100, 1] = 1, 1
    z = clipped(x).take(np.arange(500), np.arange(2))
    assert z[:, 0].std() < 0.5 * z[:, 1].std()
    assert np.ptp(z[:, 0]) == pytest.approx(3.0, abs=0.1)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6), st.integers(0, 1_000))
@settings(max_examples=30, deadline=None)
def test_clipping_is_invariant_to_shift_and_scale(shift, scale, seed):
    x = np.random.default_rng(seed).standard_cauchy((200, 2))
    one = clipped(x).take(np.arange(200), np.arange(2))
    other = clipped(shift + scale * x).take(np.arange(200), np.arange(2))
    np.testing.assert_allclose(one, other, atol=1e-4)


def test_values_near_the_largest_number_do_not_overflow(rng):
    x = rng.normal(size=(300, 2))
    x[0] = 1.7e308
    x[1] = -1.7e308
    with np.errstate(over="raise", invalid="raise"):
        z = clipped(x).take(np.arange(300), np.arange(2))
    assert np.isfinite(z).all()
    assert z[2:].std() > 0.5


def test_limits_are_those_of_a_loop_over_columns(rng):
    X = np.column_stack([make(rng) for make in (*HEAVY.values(), *WELL_BEHAVED.values())]).astype(float)
    found = find_tails(X)
    assert found.columns.tolist() == list(range(len(HEAVY)))
    for place, column in enumerate(found.columns):
        alone = find_tails(X[:, [column]])
        np.testing.assert_allclose([alone.low[0], alone.high[0]], [found.low[place], found.high[place]])


class Blocks:
    def __init__(self, X):
        self.X = X

    def blocks(self, columns):
        for start in range(0, len(self.X), 130):
            yield self.X[start : start + 130] if columns is None else self.X[start : start + 130, columns]


def test_every_kind_of_table_is_clipped_alike(rng):
    X = np.column_stack([rng.standard_cauchy(600), rng.normal(size=600), rng.poisson(0.03, 600)])
    plain = Table.of(X)
    expected = clip_tails(plain, no_target(600)).take(np.arange(600), np.arange(3))
    stream = StreamTable(Blocks(X), 600, plain.mean, plain.scale, Resources())
    strict = Table.of(array_api_strict.asarray(X))
    single = Table.of(X, Resources(precision="float32"))
    for table in (stream, strict, single):
        found = clip_tails(table, no_target(600)).rows_of(np.arange(600)).take(np.arange(600), np.arange(3))
        np.testing.assert_allclose(np.asarray(found), expected, atol=1e-6)
    batch = clip_tails(plain, no_target(600)).take_batch(np.arange(600)[None], np.array([[0, 2], [1, 0]]))
    np.testing.assert_allclose(batch[1][:, 1], expected[:, 0])


def test_weighted_rows_count_as_copies(rng):
    x = rng.standard_cauchy((400, 1))
    counts = rng.integers(1, 3, 400)
    weighted = clip_tails(
        Table.of(x, row_weights=counts), Target(np.zeros(400, dtype=int), row_weights=counts.astype(float))
    )
    values = np.clip(np.repeat(x, counts, axis=0), *weighted.limits)
    assert weighted.mean[0] == pytest.approx(values.mean())
    assert weighted.scale[0] == pytest.approx(values.std())


@pytest.mark.parametrize("hit", ["every column", "the true columns"])
@pytest.mark.parametrize("name", TRUE_FEATURES)
def test_one_percent_of_outliers_does_not_change_the_set(name, hit):
    X, y = getattr(datasets, f"make_{name}")(400, random_state=7)
    X, true = X.astype(float), TRUE_FEATURES[name]
    rng = np.random.default_rng(1)
    outliers = rng.random(X.shape) < 0.01
    if hit == "the true columns":
        outliers[:, [j for j in range(X.shape[1]) if j not in true]] = False
    X[outliers] = rng.choice([-1e6, 1e6], outliers.sum())
    found = L1LSMI(len(true), random_state=0).fit(X, y).get_support(indices=True)
    assert set(found) == set(true)


@pytest.mark.parametrize("seed", [0, 1])
def test_kept_outliers_do_not_end_a_search(seed):
    """Distances between the rows of the bulk are a millionth of those to outliers, and lose most digits."""
    X, y = datasets.make_quad(200, random_state=seed)
    rng = np.random.default_rng(seed)
    outliers = rng.random(X.shape) < 0.01
    X = np.where(outliers, rng.choice([-1e6, 1e6], size=X.shape), X)
    selector = L1LSMI(1, tails="keep", random_state=seed).fit(X, y)
    assert selector.get_support().sum() == 1 and np.isfinite(selector.p_value_)


@pytest.mark.parametrize("scale", [1e155, 1e307])
@pytest.mark.parametrize("name", ["hsic-ranking", "smi-ranking"])
def test_kept_outliers_of_any_size_have_finite_scores(name, scale, rng):
    X = rng.normal(size=(50, 3))
    X[3, 1], X[4, 1] = scale, -scale
    selector = METHODS[name].make(2).set_params(measure__tails="keep").fit(X, X[:, 0] > 0)
    assert np.isfinite(selector.scores_).all() and selector.support_[0]


def test_tails_can_be_kept(rng):
    X = rng.normal(size=(200, 3))
    X[0, 0] = 1e4
    y = X[:, 1] + X[:, 2] > 0
    for measure in (SquaredMutualInformation, HSIC):
        clip = measure().bind(Table.of(X), Target.of_classes(y), 0).table
        keep = measure(tails="keep").bind(Table.of(X), Target.of_classes(y), 0).table
        assert clip.limits is not None
        assert keep.limits is None
    for selector in (L1LSMI, L1HSIC):
        with pytest.raises(ValueError, match="tails"):
            selector(2, tails="drop").fit(X, y)
        assert selector(2, tails="keep", random_state=0).fit(X, y).get_support().sum() == 2
