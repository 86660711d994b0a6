"""Work in float32: the same sums to six digits, the same sets, half the memory."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._arrays import astype_like, in_float64, namespace, to_numpy
from l1lsmi._numerics.model import Model, ModelBatch
from l1lsmi._numerics.squared_loss import block_terms
from l1lsmi._numerics.squared_loss.least_squares import fit_all_rows, smi_gradient
from l1lsmi._rows.blocks import Centers, Layout
from l1lsmi._rows.layout import CachedRows
from l1lsmi._rows.medians import median_positive_rows
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.target import check_target
from l1lsmi.datasets import make_and_or, make_quad, make_xor
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Backward, Forward, L1Path, Ranking
from tests.conftest import LIBRARIES, TASKS, assert_close, problem_data, to_library

TOYS = {make.__name__: make for make in (make_and_or, make_quad, make_xor)}
BOTH = ("float64", "float32")


def bound(measure, task, precision, library=np, memory_limit=None, **data):
    X, y = problem_data(task, **data)
    table = Table.of(to_library(X, library), Resources(memory_limit, precision=precision))
    return measure.bind(table, check_target(y, task), 0)


def both(measure, task, library=np, **options):
    """The first draw of a problem in both precisions."""
    return [bound(measure, task, precision, library, **options).draws([(0,)]) for precision in BOTH]


def evaluate(draw, weights, columns, model):
    """Value and gradient of the objective of an ascent, for the only draw of a batch."""
    models = ModelBatch(*(draw.asarray(np.array([v])) for v in (model.sigma, model.regularization)))
    found = draw.evaluate(draw.asarray(weights[None]), None, columns[None], models)
    return float(found.value[0]), to_numpy(found.gradient)[0]


def value_and_gradient(draw, weights, columns, model):
    return draw.value_and_gradient(weights, columns, model)


def kind(x) -> str:
    return next(name for name in BOTH if x.dtype == getattr(namespace(x), name))


def sums_of(draw, squares, columns, float64):
    arguments = (draw.basis, draw.asarray(squares), columns, float64)
    return draw.rows.sum(block_terms.kernel_sums, *arguments, columns=columns)


# -- sums ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(("memory_limit", "regularization"), [(None, 1e-2), (20_000, 1e-6)])
def test_values_and_gradients_are_those_of_float64(task, library, memory_limit, regularization):
    exact, quick = both(SquaredMutualInformation(n_basis=41), task, library, memory_limit=memory_limit)
    weights, columns = np.array([0.5, 0.3, 0.2, 0.1]), np.array([0, 1, 2, 5])
    model = Model(0.6, regularization)
    for objective in (value_and_gradient, evaluate):
        expected, found = (objective(draw, weights, columns, model) for draw in (exact, quick))
        assert found[0] == pytest.approx(expected[0], rel=1e-4)
        assert_close(found[1], expected[1], rtol=1e-4, atol=1e-4 * np.abs(expected[1]).max())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("regularization", [1e-5, 1e-2])
def test_sums_of_a_block_are_in_float64(task, regularization, library):
    exact, quick = both(SquaredMutualInformation(n_basis=41), task, library)
    squares, columns = np.full((1, 6), 0.25), np.arange(6)[None]
    # With little regularization, products of kernels are in float64 too.
    needed = quick._needs_float64(np.array(regularization))
    assert needed == (regularization < 1e-3)
    expected, found = (sums_of(draw, squares, columns, needed) for draw in (exact, quick))
    for a, b in zip(found, expected, strict=True):
        assert kind(a) == "float64"
        # Float64 all the way would agree to the last digits: the kernels are in float32.
        assert 0 < np.abs(to_numpy(a) - to_numpy(b)).max() < 1e-5 * np.abs(to_numpy(b)).max()

    def in_squares(draw):
        alpha, _ = fit_all_rows(sums_of(draw, squares, columns, False), draw.target, 1e-2)
        gradient = smi_gradient(alpha, draw.target)
        arguments = (draw.basis, draw.asarray(squares), columns, needed, gradient, columns)
        return draw.rows.sum(block_terms.gradient_in_squares, *arguments, columns=columns)

    assert kind(in_squares(quick)) == "float64"
    assert_close(in_squares(quick), in_squares(exact), rtol=1e-4)


@pytest.mark.parametrize("task", TASKS)
def test_scores_of_sets(task, library):
    exact, quick = (
        bound(SquaredMutualInformation(n_basis=20), task, precision, library, n=120).set_scorer(0)
        for precision in BOTH
    )
    (one,), (other,) = (scorer.score_sets([(0, 1, 4)]) for scorer in (exact, quick))
    assert other.loss == pytest.approx(one.loss, rel=1e-4)
    columns = np.array([0, 1, 4])
    expected, found = (s.set_gradient(columns, one.model, np.arange(6)) for s in (exact, quick))
    assert_close(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    several = (scorer.score_sets([(0, 1, 4), (2, 3, 5)]) for scorer in (exact, quick))
    for expected, found in zip(*several, strict=True):
        assert found.loss == pytest.approx(expected.loss, rel=1e-4)
    expected, found = (s.neighbours([(0, 3, 4)], [one.model], np.arange(6), 2) for s in (exact, quick))
    assert found == expected


@pytest.mark.parametrize("task", TASKS)
def test_pairs_of_rows(task, library):
    exact, quick = both(HSIC(), task, library)
    columns, weights = np.array([0, 1, 2, 5]), np.array([0.5, 0.3, 0.2, 0.1])
    block = quick._whole
    strip = next(iter(block.strips(block)))
    assert kind(block.points(columns, np.ones(4)).values) == kind(block.centred(block, strip)) == "float32"
    expected, found = (draw.value_and_gradient(weights, columns, Model(0.6)) for draw in (exact, quick))
    assert found[0] == pytest.approx(expected[0], rel=1e-4)
    assert_close(found[1], expected[1], rtol=1e-4, atol=1e-4 * np.abs(expected[1]).max())
    others = np.array([3, 4])
    assert_close(
        quick.score_neighbours(columns, others, 1.0), exact.score_neighbours(columns, others, 1.0), rtol=1e-4
    )
    assert_close(quick.score_each(columns), exact.score_each(columns), rtol=1e-4)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(20, 150),
    m=st.integers(2, 40),
    offset=st.sampled_from([0.0, -1e3, 1e8]),
    scale=st.sampled_from([1e-30, 1.0, 1e30]),
    task=st.sampled_from(TASKS),
)
def test_any_table_gives_nearly_the_same_objective(seed, n, m, offset, scale, task):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, m)) + offset) * scale
    y = rng.normal(size=n) if task == "regression" else rng.permutation(np.arange(n) % 2)
    weights, columns = rng.uniform(0, 1, m) / m, np.arange(m)
    target = check_target(y, task)
    exact, quick = (
        SquaredMutualInformation(n_basis=15)
        .bind(Table.of(X, Resources(precision=p)), target, 0)
        .draws([(0,)])
        for p in BOTH
    )
    (model,) = exact.start_models(exact.asarray(weights[None]), columns[None], [2.0])
    assert quick.median_distance(weights, columns) == pytest.approx(exact.median_distance(weights, columns))
    expected, found = (evaluate(draw, weights, columns, model) for draw in (exact, quick))
    assert found[0] == pytest.approx(expected[0], rel=1e-4, abs=1e-5)
    assert_close(found[1], expected[1], atol=1e-3 * np.abs(expected[1]).max())


def test_likelihood_is_left_in_float64():
    exact, quick = both(MutualInformation(n_basis=20), "regression")
    columns, weights = np.array([0, 1]), np.ones(2)
    assert quick.fit(weights, columns, Model(1.0)).value == exact.fit(weights, columns, Model(1.0)).value


# -- what is cached ------------------------------------------------------------------------------


def blocks_of(x, precision, max_columns=100):
    table = Table.of(x, Resources(precision=precision))
    centers = np.array([[3, 5, 8, -1]])
    layout = Layout(2, Centers(table, np.maximum(centers, 0), centers, max_columns), {})
    return CachedRows.of(table, None, (np.arange(table.n_rows) % 2)[None], layout).blocks


@pytest.mark.parametrize("max_columns", [100, 3])
def test_distances_are_cached_in_float32_and_placeholders_stay_far(library, max_columns):
    x = np.random.default_rng(0).normal(size=(41, 7)) * np.arange(1, 8) + 5
    columns, v = np.arange(7)[None], to_library(np.linspace(0.1, 2, 7)[None], library)
    found = {}
    for precision in BOTH:
        (block,) = blocks_of(to_library(x, library), precision, max_columns)
        exponents = block.exponents(v, columns)
        assert kind(exponents) == precision
        kernels = block.kernels(v, columns)
        assert kind(kernels) == precision
        found[precision] = to_numpy(kernels)[0]
        assert np.all(found[precision][:, -1] == 0)
        assert np.all(found[precision][block.rows.ravel() < 0] == 0)
        assert kind(block.pull_back(kernels, columns)) == "float64"
    assert_close(found["float32"], found["float64"], atol=1e-5)


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_a_column_with_a_large_offset_keeps_its_digits(name):
    library = pytest.importorskip(name)
    z = np.random.default_rng(0).normal(size=(200, 2))
    table = Table.of(to_library(z + np.array([1e8, 0.0]), library), Resources(precision="float32"))
    found = to_numpy(table.take(np.arange(200), np.arange(2)))
    assert found.dtype == np.float32
    assert_close(found, (z - z.mean(axis=0)) / z.std(axis=0), atol=1e-6)
    # In float32 from the start nothing would be left of it.
    assert np.unique((z[:, 0] + 1e8).astype(np.float32)).size < 5


def test_rows_are_taken_a_few_at_a_time(monkeypatch):
    x = np.random.default_rng(0).normal(size=(50, 6))
    table = Table.of(x, Resources(precision="float32"))
    rows, columns = np.arange(50)[::-2], np.array([4, 1])
    whole = table.take(rows, columns)
    monkeypatch.setattr("l1lsmi._rows.statistics.BUFFER", 7)
    assert np.array_equal(table.take(rows, columns), whole)
    assert table.standardized.dtype == np.float32
    assert np.array_equal(table.standardized[np.ix_(rows, columns)], whole)


def test_equal_rows_have_no_distance(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(20, 3000)), 2, axis=0)
    target = check_target(np.arange(40) % 2, "classification")
    table = Table.of(X, Resources(precision="float32"))
    columns, weights = np.arange(3000), rng.uniform(0, 1, 3000)
    pairs = HSIC().bind(table, target).draws([(0,)])
    halves = pairs._half_distances(weights, columns)
    assert np.count_nonzero(halves == 0) == 20
    listed = []
    monkeypatch.setattr(
        "l1lsmi._rows.blocks.median_positive_rows",
        lambda halves: listed.append(halves) or median_positive_rows(halves),
    )
    draw = SquaredMutualInformation(n_basis=40).bind(table, target, 0).draws([(0,)])
    draw.median_distance(weights, columns)
    assert listed[0].shape == (1, 40 * 39 // 2)
    assert np.count_nonzero(listed[0] == 0) == 20


def test_memory_of_many_columns_is_nearly_halved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30_000))
    y = X[:, 0] + X[:, 1] > 0
    peaks = {}
    for precision in BOTH:
        tracemalloc.start()
        options = {"n_restarts": 1, "max_iter": 1, "n_basis": 40, "pool": None, "p_value": False}
        L1LSMI(2, random_state=0, precision=precision, **options).fit(X, y)
        peaks[precision] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peaks["float32"] < 0.65 * peaks["float64"]


def test_more_rows_are_cached_within_a_limit():
    table = {p: Table.of(np.zeros((10, 4)) + np.eye(10, 4), Resources(precision=p)) for p in BOTH}
    layouts = {
        p: Layout(2, Centers(t, np.arange(3)[None], np.arange(3)[None], 4), {}) for p, t in table.items()
    }
    assert layouts["float64"].bytes_per_row(4) == 2 * layouts["float32"].bytes_per_row(4)


# -- selections ----------------------------------------------------------------------------------


@pytest.mark.parametrize("toy", TOYS)
@pytest.mark.parametrize("options", [{}, {"memory_limit": 30_000}, {"algorithm": "paper", "max_iter": 10}])
def test_the_same_set_on_every_toy(toy, options):
    X, y = TOYS[toy](n_samples=200, random_state=0)[:2]
    exact, quick = (
        L1LSMI(2, n_restarts=2, n_basis=50, random_state=0, precision=p, **options).fit(X, y) for p in BOTH
    )
    assert np.array_equal(quick.support_, exact.support_)
    assert quick.cv_score_ == pytest.approx(exact.cv_score_, abs=1e-3)
    assert quick.smi_ == pytest.approx(exact.smi_, abs=1e-3)
    assert quick.weights_.dtype == np.float64
    # Not the same work, but for values that float32 has exactly.
    assert toy == "make_xor" or quick.cv_score_ != exact.cv_score_


@pytest.mark.parametrize("toy", TOYS)
def test_the_same_set_by_pairs_of_rows(toy):
    X, y = TOYS[toy](n_samples=200, random_state=0)[:2]
    exact, quick = (L1HSIC(2, n_restarts=2, random_state=0, precision=p).fit(X, y) for p in BOTH)
    assert np.array_equal(quick.support_, exact.support_)
    assert quick.hsic_ == pytest.approx(exact.hsic_, rel=1e-3)


@pytest.mark.parametrize("device", [None, "cpu"])
def test_tensors(device):
    torch = pytest.importorskip("torch")
    X, y = problem_data("regression", n=150)
    X[:, 3] += 1e8
    given = torch.as_tensor(X) if device is None else X
    options = {"n_restarts": 1, "n_basis": 20, "random_state": 0, "device": device}
    exact, quick = (L1LSMI(3, precision=p, **options).fit(given, y) for p in BOTH)
    assert np.array_equal(quick.support_, exact.support_)
    assert quick.cv_score_ == pytest.approx(exact.cv_score_, abs=1e-3)


def test_half_as_much_is_copied_to_a_device():
    torch = pytest.importorskip("torch")
    X, y = problem_data("regression", n=50)
    X[:, 3] = 1e8 + X[:, 3]
    X[:, 4] = 7.0
    table = L1LSMI(2, device="cpu", precision="float32")._read(X, y, L1LSMI()).table
    assert table.x.dtype == torch.float32
    assert table.varying.tolist() == [0, 1, 2, 3, 5]
    expected = Table.of(X, Resources(precision="float32")).take(np.arange(50), np.arange(6))
    found = np.asarray(table.take(np.arange(50), np.arange(6)))
    assert_close(found[found[:, 0].argsort()], expected[expected[:, 0].argsort()])  # in any order


def test_float32_values_are_worked_on_in_float64_by_default():
    X, y = problem_data("regression", n=150)
    X = X.astype(np.float32)
    options = {"n_restarts": 1, "n_basis": 30, "random_state": 0}
    exact = L1LSMI(2, **options).fit(X.astype(np.float64), y)
    assert np.array_equal(L1LSMI(2, **options).fit(X, y).weights_, exact.weights_)
    quick = L1LSMI(2, precision="float32", **options).fit(X, y)
    assert np.array_equal(quick.support_, exact.support_)
    assert quick.cv_score_ != exact.cv_score_


def long_table(n=1_500):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) * [1, 10, 1, 0.1, 1] + [0, 5, 0, 0, 1e8]
    return X, (X[:, 1] - 5) * X[:, 3] + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("kind_of_source", ["blocks", "parquet"])
def test_rows_that_are_not_in_memory(kind_of_source, tmp_path):
    X, y = long_table()
    if kind_of_source == "blocks":
        source = (lambda: iter(np.array_split(X, 7)), y)
    else:
        path = tmp_path / "table.parquet"
        pd.DataFrame(X, columns=list("abcde")).assign(y=y).to_parquet(path, row_group_size=400)
        source = (path, "y")
    options = {"n_restarts": 2, "n_basis": 40, "random_state": 0, "explore_rows": 400}
    exact, quick = (L1LSMI(2, precision=p, **options).fit(*source) for p in BOTH)
    here = L1LSMI(2, precision="float32", **options).fit(X, y)
    assert np.array_equal(quick.support_, exact.support_)
    assert quick.cv_score_ == pytest.approx(exact.cv_score_, abs=1e-3)
    assert quick.cv_score_ != exact.cv_score_
    assert quick.cv_score_ == pytest.approx(here.cv_score_, abs=1e-5)


def test_precision_is_pickled_for_workers():
    from l1lsmi.sources._dask_tasks import make_part

    resources = pickle.loads(pickle.dumps(Resources(1000, 2, object, "float32")))
    assert resources == Resources(1000, 2, None, "float32")
    X, y = long_table(20)
    part = make_part(
        X, (X.mean(axis=0), X.std(axis=0), None, None), y, np.zeros((1, 20), dtype=int), resources.precision
    )
    assert part.table.take(np.arange(20), np.arange(5)).dtype == np.float32


# -- the parameter -------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [L1LSMI, L1HSIC])
def test_the_parameter(make):
    X, y = problem_data("regression", n=30)
    assert make().get_params()["precision"] == "float64"
    assert clone(make(precision="float32")).precision == "float32"
    for wrong in ("float16", np.float32, None):
        with pytest.raises(InvalidParameterError, match="The 'precision' parameter"):
            make(2, precision=wrong).fit(X, y)


@pytest.mark.parametrize("name", LIBRARIES)
def test_numbers_that_have_their_precision_are_not_copied(name):
    library = pytest.importorskip(name)
    x = to_library(np.arange(3.0), library)
    assert in_float64(x) is x
    assert astype_like(x, x) is x
    half = library.asarray(x, dtype=library.float32)
    assert kind(in_float64(half)) == "float64"
    assert kind(astype_like(x, half)) == "float32"


@pytest.mark.parametrize("measure", [SquaredMutualInformation(n_basis=20), HSIC()])
@pytest.mark.parametrize("strategy", [Forward(), Backward(), Ranking(), L1Path(n_restarts=2)])
def test_any_strategy(measure, strategy):
    X, y = make_quad(n_samples=120, random_state=0)[:2]
    found = [
        FeatureSelector(measure, strategy, 3, precision=precision, random_state=0).fit(X, y)
        for precision in BOTH
    ]
    assert np.array_equal(found[0].support_, found[1].support_)
    assert found[1].score_ == pytest.approx(found[0].score_, rel=1e-3)
    assert found[1].score_ != found[0].score_
    limited = FeatureSelector(measure, strategy, 3, memory_limit=20_000, random_state=0).fit(X, y)
    assert np.array_equal(limited.support_, found[0].support_)
    assert limited.score_ == pytest.approx(found[0].score_, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"precision": "float32"}, "precision='float32' is given"),
        ({"memory_limit": 10}, "memory_limit=10 is"),
    ],
)
@pytest.mark.parametrize("measure", [MutualInformation(), Pearson()])
def test_measures_of_all_rows_at_once_refuse_what_they_do_not_support(measure, options, words):
    X, y = make_and_or(n_samples=60, random_state=0)[:2]
    selector = FeatureSelector(measure, Ranking(), 2, **options)
    with pytest.raises(ValueError, match=f"{words}.*{type(measure).__name__}.*leave it out"):
        selector.fit(X, y)
    assert not hasattr(selector, "support_")


@pytest.mark.parametrize(
    "make",
    [
        L1HSIC,
        lambda k, **options: FeatureSelector(SquaredMutualInformation(n_basis=20), Forward(), k, **options),
        lambda k, **options: FeatureSelector(MutualInformation(n_basis=10), Ranking(), k, **options),
        lambda k, **options: FeatureSelector(Pearson(), Ranking(), k, **options),
    ],
)
def test_a_device_by_its_name(make):
    pytest.importorskip("torch", reason="torch is not installed")
    X, y = make_and_or(n_samples=100, random_state=0)[:2]
    here, there = make(3, random_state=0).fit(X, y), make(3, random_state=0, device="cpu").fit(X, y)
    assert np.array_equal(here.support_, there.support_)
    with pytest.raises(ValueError, match="device='abacus' cannot be used"):
        make(3, device="abacus").fit(X, y)
