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

from l1lsmi._arrays import blas_threads, steady_blas, to_numpy
from l1lsmi._numerics.sampling import balanced_centers, stratified_folds
from l1lsmi._rows.folded import Centers, FoldedRows, Layout
from l1lsmi._rows.parted import ArrayParts, PartedRows, fold_rows
from l1lsmi._rows.table import Means, Table, column_statistics
from l1lsmi._rows.wide import wide_exponents, wide_pull_back
from tests.conftest import assert_close, to_library


def folded(x, *, max_columns=100, block_rows=2000, n_folds=5, n_centers=13):
    rng = np.random.default_rng(3)
    n = x.shape[0]
    folds = stratified_folds(np.zeros(n, dtype=int), n_folds, rng)
    centers = np.append(rng.choice(n, n_centers - 1, replace=False), -1)
    table = Table.of(x)
    layout = Layout(n_folds, Centers(table, np.maximum(centers, 0), centers, max_columns), {})
    return FoldedRows(table, None, folds, layout, block_rows)


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
    rows = folded(to_library(x, library))
    columns, v = np.array([0, 3, 4, 6]), np.array([0.3, 0.0, 1.5, 0.2])
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    exponents = rows.blocks[0].exponents(v, columns)
    order = rows.blocks[0].rows.ravel()
    exponents = to_numpy(exponents)
    for i in np.flatnonzero(order >= 0):
        difference = z[order[i]] - z[rows.centers.rows[:-1]]
        expected = -0.5 * (v * difference[:, columns] ** 2).sum(axis=1)
        np.testing.assert_allclose(exponents[i, :-1], expected, atol=1e-12)
    assert (np.exp(exponents[order < 0]) == 0).all()
    assert (np.exp(exponents[:, -1]) == 0).all()


@pytest.mark.parametrize("max_columns", [1, 2, 3, 100])
@pytest.mark.parametrize("block_rows", [5, 20, 2000])
def test_pieces_and_blocks_give_the_same_sums(max_columns, block_rows):
    x = values()
    whole, cut = folded(x), folded(x, max_columns=max_columns, block_rows=block_rows)
    columns, v = np.arange(7), np.linspace(0.1, 1, 7)
    place = np.concatenate([b.rows.ravel() for b in cut.blocks])
    stacked = np.vstack([block.exponents(v, columns) for block in cut.blocks])
    at_once = whole.blocks[0].exponents(v, columns)
    for i, row in zip(range(place.size), place, strict=True):
        if row >= 0:
            j = int(np.flatnonzero(whole.blocks[0].rows.ravel() == row)[0])
            np.testing.assert_allclose(stacked[i], at_once[j], rtol=1e-12, atol=1e-12)

    def pulled(block):
        return block.pull_back(block.kernels(v, columns), columns)

    assert_close(cut.sum(pulled), whole.sum(pulled), rtol=1e-10)


def test_pull_back_is_the_transpose_of_exponents():
    rows = folded(values())
    columns, v = np.arange(7), np.linspace(0.1, 1, 7)
    (block,) = rows.blocks
    exponents = block.exponents(v, columns)
    slopes = np.random.default_rng(1).normal(size=exponents.shape) * (exponents > -1e100)

    def weighted_sum(v):
        exponents = block.exponents(v, columns)
        return -(slopes * np.where(exponents > -1e100, exponents, 0)).sum()

    change = np.random.default_rng(2).random(size=7)  # distances stay positive
    expected = weighted_sum(v + change) - weighted_sum(v)  # linear in v
    np.testing.assert_allclose(block.pull_back(slopes, columns) @ change, expected, rtol=1e-9)


@pytest.mark.parametrize("block_rows", [20, 2000])
@pytest.mark.parametrize("columns", [np.arange(60), np.arange(3, 58, 2)])
def test_many_columns_of_few_rows_give_the_same_sums(columns, block_rows):
    x = values(m=60)
    v = np.linspace(0.1, 1, columns.size)
    copied, pieces = (folded_in(x, limit, block_rows) for limit in (None, 100))
    assert copied.blocks[0]._wide_points(columns) is not None
    assert pieces.blocks[0]._wide_points(columns) is None

    def term(block):
        kernels = block.kernels(v, columns)
        return kernels.T @ kernels, block.pull_back(kernels, columns)

    for found, expected in zip(copied.sum(term), pieces.sum(term), strict=True):
        assert_close(found, expected, rtol=1e-9, atol=1e-12)
    among = [rows.centers.block() for rows in (copied, pieces)]
    assert_close(among[0].exponents(v, columns), among[1].exponents(v, columns), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n", [12, 13])
def test_centres_that_only_fill_up_do_not_cost_others_their_slopes(n):
    x = values(n=n, m=60)
    columns, v = np.arange(60), np.linspace(0.1, 1, 60)
    places = np.array([3, 1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11, 0])  # all of 12 rows; the last fills up
    found = []
    for limit in (None, 100):
        table = Table.of(x, Means(memory_limit=limit))
        among = Centers(table, places, np.append(places[:-1], -1), 10).block()
        slope = np.random.default_rng(0).normal(size=(13, 13))
        found.append((among.exponents(v, columns) * 1.0, among.pull_back(slope, columns)))
    for one, other in zip(*found, strict=True):
        assert_close(one, other, rtol=1e-9, atol=1e-9)


def folded_in(x, memory_limit, block_rows):
    rng = np.random.default_rng(3)
    table = Table.of(x, Means(memory_limit=memory_limit))
    folds = stratified_folds(np.zeros(len(x), dtype=int), 5, rng)
    centers = np.append(rng.choice(len(x), 12, replace=False), -1)
    layout = Layout(5, Centers(table, np.maximum(centers, 0), centers, 10), {})
    return FoldedRows(table, None, folds, layout, block_rows)


class Numbers:
    """A target of row numbers."""

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
    table = Table.of(x, Means(n_jobs=n_jobs))
    folds = stratified_folds(np.zeros(57, dtype=int), 5, np.random.default_rng(3))
    folds[[4, 9]] = -1
    centers = Centers(table, np.arange(9), np.arange(9), 100)
    layout = Layout(5, centers, {"numbers": Numbers.attach})
    columns, v = np.array([0, 2, 5]), np.array([0.3, 1.0, 0.2])

    def term(block, factor):
        kernels = block.kernels(v, columns)
        folded = kernels.reshape(5, -1, 9)
        grams = np.swapaxes(folded, 1, 2) @ (folded * factor)
        return grams, block.pull_back(kernels, columns), block.attached["numbers"].sum(axis=1)

    target = Numbers(np.arange(57))
    whole = FoldedRows(table, target, folds, layout)
    parted = PartedRows(ArrayParts(table, target, folds, part_rows), whole.fold_sizes, layout, part_rows)
    for found, expected in zip(parted.sum(term, 2.0), whole.sum(term, 2.0), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_rows_are_kept_as_far_as_the_memory_allows():
    target, folds = Numbers(np.arange(57)), np.zeros(57, dtype=int)
    for limit, kind in ((10**6, FoldedRows), (10**3, PartedRows), (None, FoldedRows)):
        table = Table.of(values(), Means(memory_limit=limit))
        layout = Layout(1, Centers(table, np.arange(9), np.arange(9), 100), {})
        assert type(fold_rows(table, target, folds, layout)) is kind


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
    points, weights, slope = rng.normal(size=(9, m)), rng.random(m), rng.normal(size=(9, 4))
    centers = points[:4]
    gaps = (points[:, None, :] - centers) ** 2

    def at(inside):
        return centers[:, inside]

    exponents, slopes = wide_exponents(points, at, weights), wide_pull_back(points, at, slope)
    np.testing.assert_allclose(exponents, -0.5 * gaps @ weights, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(slopes, 0.5 * np.einsum("il,ilj->j", slope, gaps), rtol=1e-10, atol=1e-12)
    for n_threads in (2, 3):
        assert np.array_equal(wide_exponents(points, at, weights, n_threads), exponents)
        assert np.array_equal(wide_pull_back(points, at, slope, n_threads), slopes)


def test_a_wide_product_takes_the_threads_that_blas_may_have(monkeypatch):
    taken = []

    def noted(points, centers_at, squared_weights, n_threads=1):
        taken.append(n_threads)
        return wide_exponents(points, centers_at, squared_weights, n_threads)

    monkeypatch.setattr("l1lsmi._rows.folded.wide_exponents", noted)
    x = np.random.default_rng(0).normal(size=(20, 300))
    weights, columns = np.ones(300), np.arange(300)
    with threadpool_limits(3):
        with steady_blas():
            first = folded(x).blocks[0].exponents(weights, columns)
            assert blas_threads() == 3
        assert blas_threads() == 3
    with threadpool_limits(1), steady_blas():
        second = folded(x).blocks[0].exponents(weights, columns)
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


def test_a_standardised_copy_stays_behind_when_a_table_travels():
    table = Table.of(np.random.default_rng(0).normal(size=(200, 30)))
    z = table.standardized
    there = pickle.dumps(table)
    assert len(there) < 1.5 * table.x.nbytes
    back = pickle.loads(there)
    assert np.array_equal(back.standardized, z)
    assert table.slice_of(0, 10).standardized.shape == (10, 30)


def test_freed_memory_is_kept_where_the_process_was_told_not_to():
    program = (
        "import resource\n"
        "import numpy as np\n"
        "from l1lsmi._arrays import steady_blas\n"
        "def faults():\n"
        "    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "    for _ in range(50):\n"
        "        np.ones(100_000)\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before\n"
        "faults()\n"
        "with steady_blas():\n"
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
