import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from l1lsmi._arrays import to_numpy
from l1lsmi._blas import blas_threads, single_threaded_blas
from l1lsmi._numerics.sampling import balanced_centers, stratified_folds
from l1lsmi._rows.blocks import Centers, Layout
from l1lsmi._rows.layout import CachedRows, UncachedRows, lay_out_rows
from l1lsmi._rows.parts import ArrayParts
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._rows.table import Resources, Table
from l1lsmi._rows.wide import wide_exponents, wide_pull_back
from tests.conftest import assert_close, to_library


def laid_out(x, *, max_columns=100, block_rows=2000, memory_limit=None, seeds=(3,)):
    """Rows in five folds, with 12 centres and a placeholder, one draw for each seed."""
    folds, centers = [], []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        folds.append(stratified_folds(np.zeros(x.shape[0], dtype=int), 5, rng))
        centers.append(np.append(rng.choice(x.shape[0], 12, replace=False), -1))
    table, rows = Table.of(x, Resources(memory_limit)), np.array(centers)
    layout = Layout(5, Centers(table, np.maximum(rows, 0), rows, max_columns), {})
    return CachedRows.of(table, None, np.array(folds), layout, block_rows)


def values(n=57, m=7):
    return np.random.default_rng(0).normal(size=(n, m)) * np.arange(1, m + 1) + 5


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_column_statistics_survive_scale_and_offset(scale, offset):
    z = np.random.default_rng(0).normal(size=(500, 3))
    mean, deviation = column_statistics((z + offset) * scale)
    np.testing.assert_allclose(deviation, z.std(axis=0) * scale, rtol=1e-6)
    np.testing.assert_allclose(mean, (z.mean(axis=0) + offset) * scale, rtol=1e-6)


def test_constant_columns_have_no_scale():
    x = np.column_stack([np.full(9, 0.1), np.full(9, 1e300), np.arange(9.0), np.zeros(9)])
    x[4, 0] = 0.1 + 1e-17
    assert Table.of(x).varying.tolist() == [2]


def test_exponents_are_minus_half_the_weighted_distances(library):
    x = values()
    rows = laid_out(to_library(x, library))
    columns, v = np.array([0, 3, 4, 6]), np.array([0.3, 0.0, 1.5, 0.2])
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    (exponents,) = to_numpy(rows.blocks[0].exponents(to_library(v[None], library), columns[None]))
    order = rows.blocks[0].rows.ravel()
    for i in np.flatnonzero(order >= 0):
        difference = z[order[i]] - z[rows.centers.rows[0, :-1]]
        expected = -0.5 * (v * difference[:, columns] ** 2).sum(axis=1)
        np.testing.assert_allclose(exponents[i, :-1], expected, atol=1e-12)
    assert (np.exp(exponents[order < 0]) == 0).all()
    assert (np.exp(exponents[:, -1]) == 0).all()


@pytest.mark.parametrize("max_columns", [1, 2, 3, 100])
@pytest.mark.parametrize("block_rows", [5, 20, 2000])
def test_pieces_and_blocks_give_the_same_sums(max_columns, block_rows):
    x = values()
    whole, cut = laid_out(x), laid_out(x, max_columns=max_columns, block_rows=block_rows)
    columns, v = np.arange(7)[None], np.linspace(0.1, 1, 7)[None]
    place = np.concatenate([b.rows.ravel() for b in cut.blocks])
    stacked = np.vstack([block.exponents(v, columns)[0] for block in cut.blocks])
    at_once = whole.blocks[0].exponents(v, columns)[0]
    for i, row in zip(range(place.size), place, strict=True):
        if row >= 0:
            j = int(np.flatnonzero(whole.blocks[0].rows.ravel() == row)[0])
            np.testing.assert_allclose(stacked[i], at_once[j], rtol=1e-12, atol=1e-12)

    def pulled(block):
        return block.pull_back(block.kernels(v, columns), columns)

    assert_close(cut.sum(pulled), whole.sum(pulled), rtol=1e-10)


def test_pull_back_is_the_transpose_of_exponents():
    columns, v = np.arange(7)[None], np.linspace(0.1, 1, 7)[None]
    (block,) = laid_out(values()).blocks
    exponents = block.exponents(v, columns)
    gradient = np.random.default_rng(1).normal(size=exponents.shape) * (exponents > -1e100)

    def weighted_sum(v):
        exponents = block.exponents(v, columns)
        return -(gradient * np.where(exponents > -1e100, exponents, 0)).sum()

    change = np.random.default_rng(2).random(size=7)  # distances stay positive
    expected = weighted_sum(v + change) - weighted_sum(v)  # linear in v
    np.testing.assert_allclose(block.pull_back(gradient, columns)[0] @ change, expected, rtol=1e-9)


@pytest.mark.parametrize("max_columns", [2, 100])
def test_a_batch_gives_what_each_draw_gives(library, max_columns):
    x, n_draws = to_library(values(), library), 3
    columns = np.array([[0, 3, 4], [1, 2, 6], [5, 6, 0]])
    v = np.random.default_rng(0).random(size=(3, 3))
    batch = laid_out(x, max_columns=max_columns, seeds=range(n_draws))
    alone = [laid_out(x, max_columns=max_columns, seeds=[seed]) for seed in range(n_draws)]
    taken = batch.take([2, 0])
    for draw in range(n_draws):
        assert np.array_equal(batch.fold_sizes[draw], alone[draw].fold_sizes[0])

    def term(block, members):
        weights = to_library(v[members], library)
        kernels = block.kernels(weights, columns[members])
        # Candidates of its own for each draw, or the same for all.
        return (
            kernels,
            block.pull_back(kernels, columns[members]),
            block.pull_back(kernels, np.arange(7)[None]),
        )

    found = [to_numpy(array) for array in batch.sum(term, [0, 1, 2])]
    of_taken = [to_numpy(array) for array in taken.sum(term, [2, 0])]
    for draw in range(n_draws):
        for of_batch, expected in zip(found, alone[draw].sum(term, [draw]), strict=True):
            assert_close(of_batch[draw : draw + 1], expected, rtol=1e-12, atol=1e-14)
    for of_batch, some in zip(found, of_taken, strict=True):
        assert_close(some, of_batch[[2, 0]], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("block_rows", [20, 2000])
@pytest.mark.parametrize("columns", [np.arange(60), np.arange(3, 58, 2)])
def test_many_columns_of_few_rows_give_the_same_sums(columns, block_rows):
    x = values(m=60)
    columns, v = columns[None], np.linspace(0.1, 1, columns.size)[None]
    copied, pieces = (
        laid_out(x, max_columns=10, block_rows=block_rows, memory_limit=limit) for limit in (None, 100)
    )
    assert copied.blocks[0]._wide_points(columns) is not None
    assert pieces.blocks[0]._wide_points(columns) is None

    def term(block):
        kernels = block.kernels(v, columns)
        return kernels[0].T @ kernels[0], block.pull_back(kernels, columns)

    for found, expected in zip(copied.sum(term), pieces.sum(term), strict=True):
        assert_close(found, expected, rtol=1e-9, atol=1e-12)
    found, expected = (rows.centers.block().exponents(v, columns) for rows in (copied, pieces))
    assert_close(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [12, 13])
def test_placeholders_among_centres_do_not_change_the_gradient_of_others(n):
    x = values(n=n, m=60)
    columns, v = np.arange(60)[None], np.linspace(0.1, 1, 60)[None]
    places = np.array([[3, 1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 0]])  # all of 12 rows, and a placeholder
    found = []
    for limit in (None, 100):
        table = Table.of(x, Resources(memory_limit=limit))
        block = Centers(table, places, np.append(places[:, :-1], [[-1]], axis=1), 10).block()
        gradient = np.random.default_rng(0).normal(size=(1, 13, 13))
        found.append((block.exponents(v, columns) * 1.0, block.pull_back(gradient, columns)))
    for one, other in zip(*found, strict=True):
        assert_close(one, other, rtol=1e-9, atol=1e-9)


class Numbers:
    """A target of row numbers."""

    row_weights = None

    def __init__(self, numbers):
        self.numbers = numbers

    def slice_of(self, start, stop):
        return Numbers(self.numbers[start:stop])

    def attach(self, block):
        return block.pick(self.numbers.astype(float), 0.0)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("part_rows", [1, 7, 40, 1000])
def test_parts_of_rows_give_the_same_sums(part_rows, n_jobs):
    x = values()
    table = Table.of(x, Resources(n_jobs=n_jobs))
    folds = stratified_folds(np.zeros(57, dtype=int), 5, np.random.default_rng(3))[None]
    folds[0, [4, 9]] = -1
    centers = Centers(table, np.arange(9)[None], np.arange(9)[None], 100)
    layout = Layout(5, centers, {"numbers": Numbers.attach})
    columns, v = np.array([[0, 2, 5]]), np.array([[0.3, 1.0, 0.2]])

    def term(block, factor):
        kernels = block.kernels(v, columns)
        by_fold = kernels.reshape(5, -1, 9)
        grams = np.swapaxes(by_fold, 1, 2) @ (by_fold * factor)
        return grams, block.pull_back(kernels, columns), block.attached["numbers"].sum(axis=2)

    target = Numbers(np.arange(57))
    whole = CachedRows.of(table, target, folds, layout)
    assert whole.fold_sizes.sum() == 55
    parts = ArrayParts(table, target, folds, part_rows)
    in_parts = UncachedRows(parts, whole.fold_sizes, layout, part_rows)
    for found, expected in zip(
        in_parts.sum(term, 2.0, columns=columns), whole.sum(term, 2.0, columns=columns), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_rows_are_cached_as_far_as_the_memory_allows():
    target, folds = Numbers(np.arange(57)), np.zeros((1, 57), dtype=int)
    for limit, kind in ((10**6, CachedRows), (10**3, UncachedRows), (None, CachedRows)):
        table = Table.of(values(), Resources(memory_limit=limit))
        layout = Layout(1, Centers(table, np.arange(9)[None], np.arange(9)[None], 100), {})
        assert type(lay_out_rows(table, target, folds, layout)) is kind


@given(
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6),
    n_folds=st.integers(2, 7),
    n_centers=st.integers(1, 60),
    seed=st.integers(0, 100),
)
@settings(deadline=None)
def test_folds_and_centers_are_even(sizes, n_folds, n_centers, seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    folds = stratified_folds(groups, n_folds, rng)
    counts = np.bincount(folds, minlength=n_folds)
    assert counts.max() - counts.min() <= 1
    for group in range(len(sizes)):
        within = np.bincount(folds[groups == group], minlength=n_folds)
        assert within.max() - within.min() <= 1

    centers = balanced_centers(groups, n_centers, rng)
    chosen = centers[centers >= 0]
    assert chosen.size == np.unique(chosen).size == max(min(n_centers, groups.size), len(sizes))
    shares = (centers >= 0).sum(axis=1)
    assert (shares >= 1).all()
    for group, share in enumerate(shares):
        assert (groups[centers[group, :share]] == group).all()
        # Whoever has fewer than the most has given all its rows, or is one short.
        assert share >= min(shares.max() - 1, sizes[group])


@pytest.mark.parametrize("m", [3, 4_096, 10_007])
def test_wide_products_are_the_plain_sums_whatever_the_number_of_threads(m):
    rng = np.random.default_rng(0)
    points, weights, gradient = rng.normal(size=(9, m)), rng.random(m), rng.normal(size=(9, 4))
    centers = points[:4]
    gaps = (points[:, None, :] - centers) ** 2

    def at(inside):
        return centers[:, inside]

    exponents, in_squares = wide_exponents(points, at, weights), wide_pull_back(points, at, gradient)
    np.testing.assert_allclose(exponents, -0.5 * gaps @ weights, rtol=1e-10, atol=1e-10)
    expected = 0.5 * np.einsum("il,ilj->j", gradient, gaps)
    np.testing.assert_allclose(in_squares, expected, rtol=1e-10, atol=1e-12)
    for n_threads in (2, 3):
        assert np.array_equal(wide_exponents(points, at, weights, n_threads), exponents)
        assert np.array_equal(wide_pull_back(points, at, gradient, n_threads), in_squares)


def test_a_wide_product_takes_the_threads_that_blas_may_have(monkeypatch):
    taken = []

    def noted(points, centers_at, squared_weights, n_threads=1):
        taken.append(n_threads)
        return wide_exponents(points, centers_at, squared_weights, n_threads)

    monkeypatch.setattr("l1lsmi._rows.blocks.wide_exponents", noted)
    x = np.random.default_rng(0).normal(size=(20, 300))
    weights, columns = np.ones((1, 300)), np.arange(300)[None]
    with threadpool_limits(3):
        with single_threaded_blas():
            first = laid_out(x).blocks[0].exponents(weights, columns)
            assert blas_threads() == 3
        assert blas_threads() == 3
    with threadpool_limits(1), single_threaded_blas():
        second = laid_out(x).blocks[0].exponents(weights, columns)
    assert taken == [3, 1]
    assert np.array_equal(first, second)


def test_threads_share_one_standardised_copy(monkeypatch):
    from l1lsmi._rows import table as module

    copies = []

    def slowly(values, mean, scale, whole=module.standardize):
        copies.append(threading.get_ident())
        time.sleep(0.05)
        return whole(values, mean, scale)

    monkeypatch.setattr(module, "standardize", slowly)
    table = Table.of(np.random.default_rng(0).normal(size=(50, 4)))
    gate = threading.Barrier(8)

    def ask(_):
        gate.wait()
        return table.standardized

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(8)))
    assert len(copies) == 1
    assert all(one is found[0] for one in found)


def test_a_standardised_copy_is_not_pickled():
    table = Table.of(np.random.default_rng(0).normal(size=(200, 30)))
    z = table.standardized
    pickled = pickle.dumps(table)
    assert len(pickled) < 1.5 * table.x.nbytes
    back = pickle.loads(pickled)
    assert np.array_equal(back.standardized, z)
    assert table.slice_of(0, 10).standardized.shape == (10, 30)


def test_freed_memory_is_kept_where_the_environment_says_not_to():
    program = (
        "import resource\n"
        "import numpy as np\n"
        "from l1lsmi._blas import single_threaded_blas\n"
        "def faults():\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "    for _ in range(50):\n"
        "        np.ones(100_000)\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before\n"
        "faults()\n"
        "with single_threaded_blas():\n"
        "    inside = faults()\n"
        "print(inside, faults())\n"
    )
    told = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=told, capture_output=True, text=True, check=True
    )
    inside, outside = map(int, done.stdout.split())
    if outside < 1_000:
        pytest.skip("the allocator of this system keeps freed memory anyway")
    assert inside < outside / 5
