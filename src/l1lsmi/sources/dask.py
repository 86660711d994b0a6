"""Dask arrays and dataframes: rows stay on the workers, and most steps send only sums.

Every chunk of rows is loaded once, and moved at most once, to balance the load of the workers. The results
of a pass are added up on each worker first, so that a step moves a few small arrays per worker, however many
rows there are. Only sums over pairs of rows send rows: the columns that they need are sent to every worker.
All tasks are functions of chunks that the scheduler can compute again, so that a lost worker costs only time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._blas import call_single_threaded
from l1lsmi._rows.distinct import Arrangement, row_hashes
from l1lsmi._rows.kinds import Kinds
from l1lsmi._rows.levels import LevelTotals, level_totals, renumbered
from l1lsmi._rows.out_of_core import OutOfCoreTable
from l1lsmi._rows.parts import add_up
from l1lsmi._rows.stream import ColumnStatistics
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.digits import Digits
from l1lsmi.sources._dask_levels import (
    by_frequency,
    known_levels,
    level_counts,
)
from l1lsmi.sources._dask_tasks import (
    chunk_values,
    column_sums,
    digits_of,
    joined_columns,
    kept_parts,
    make_part,
    make_task,
    narrow_part,
    numbered,
    repeated_rows,
    sum_pairs_of,
    sum_parts,
    take_rows,
)
from l1lsmi.sources._first_pass import check_named, merge_blocks, named_columns, stream_table
from l1lsmi.sources._levels import Levels, all_levels, kinds_of
from l1lsmi.sources.blocks import FactorySource
from l1lsmi.sources.opening import OpenRows, computed_targets

#: How often the problem is sent to workers before the cluster is given up.
ATTEMPTS = 5
GONE = "The connection to the cluster was lost before the fit had finished: connect a client, and fit again."


def open_dask(
    X: Any, y: Any, resources: Resources, sample_weight: Any = None, categorical: Any = "from_dtype"
) -> OpenRows:
    """Open a dask array or dataframe: on the cluster of the current client, or else one chunk at a time."""
    check_named(y)
    if not isinstance(getattr(X, "ndim", None), int):
        raise ValueError(f"X is a {type(X).__name__} of dask: pass an array or a dataframe.")
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got X with {X.ndim} dimension(s): pass one row per sample.")
    names = list(X.columns) if hasattr(X, "columns") else None
    beside = {"y": y, "sample_weight": sample_weight}
    if names is not None:
        X, beside, names = _without_named(X, beside, names)
    for argument, value in beside.items():
        if isinstance(value, str):
            raise ValueError(
                f"{argument} is {value!r}, but X is a dask array, which has no column names: pass the values."
            )
        beside[argument] = computed_targets(value)
    y, sample_weight = beside.values()
    chunks = _chunks(X)
    client = _client()
    if client is None:
        source = FactorySource(lambda: (chunk.compute() for chunk in chunks), levels=Levels(categorical))
        in_blocks, levels = stream_table(source, names, resources, source.levels)
        return OpenRows(in_blocks, y, names, sample_weight, levels)
    table, levels = _cluster_table(client, chunks, names, resources, known_levels(X, categorical))
    return OpenRows(table, y, names, sample_weight, levels)


def _without_named(X: Any, beside: dict[str, Any], names: list[Any]) -> tuple[Any, dict[str, Any], list[str]]:
    """The features of a dataframe, and its target and weights where they are named."""
    y, weights = beside["y"], beside["sample_weight"]
    targets = named_columns(y, names)
    named = {"y": targets or [], "sample_weight": [weights] if isinstance(weights, str) else []}
    for argument, names_of in named.items():
        for name in names_of:
            if name not in names:
                verb = "names" if argument == "y" and not isinstance(y, str) else "is"
                raise ValueError(
                    f"{argument} {verb} {name!r}, but X has no such column: pass the name of a column of X."
                )
    if any(named.values()):
        found = {key: X[some[0] if len(some) == 1 else some] for key, some in named.items() if some}
        beside = {**beside, **found}
        left_out = [name for some in named.values() for name in some]
        names = [name for name in names if name not in left_out]
        X = X[names]
    if len(set(map(str, names))) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has several columns named {twice!r}: rename or drop all but one.")
    return X, beside, [str(name) for name in names]


def _chunks(X: Any) -> list[Any]:
    """Blocks of rows, each still to be computed."""
    if hasattr(X, "columns"):
        return [part.to_delayed()[0] if hasattr(part, "to_delayed") else part for part in X.partitions]
    if any(np.isnan(size) for size in X.chunks[1]):
        raise ValueError(
            "X has chunks with an unknown number of columns: call X.compute_chunk_sizes() first."
        )
    if len(X.chunks[1]) > 1:
        raise ValueError(
            f"X is cut into {len(X.chunks[1])} chunks of columns, but a chunk must have all columns: "
            "call X.rechunk({1: -1}) first."
        )
    return [row[0] for row in X.to_delayed()]


def _client() -> Any:
    """The client of the cluster that is in use, if any."""
    try:
        import distributed
    except ImportError:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


class Cluster:
    """Runs tasks of a search on the workers."""

    def __init__(self, client: Any) -> None:
        self._client = client
        #: The problem that workers have, and where.
        self._sent: tuple[Any, Any] | None = None

    def width(self) -> int:
        """How many tasks run at a time."""
        with _cluster_errors(self._client):
            return max(1, int(sum(self._client.nthreads().values())))

    def in_order(
        self, function: Callable[[Any, Any], Any], problem: Any, items: Iterator[Any]
    ) -> Iterator[Any]:
        """Yield ``function(problem, item)`` for each item, as many at a time as there are threads."""
        while some := list(islice(items, self.width())):
            yield from self._all(function, problem, some)

    def _all(self, function: Callable[[Any, Any], Any], problem: Any, items: list[Any]) -> list[Any]:
        from distributed import CancelledError

        with _cluster_errors(self._client):
            for attempt in range(ATTEMPTS):
                shared = self._shared(problem)
                tasks = [
                    self._client.submit(call_single_threaded, function, shared, item, pure=False)
                    for item in items
                ]
                try:
                    found: list[Any] = self._client.gather(tasks)
                    return found
                except CancelledError:
                    # The workers that had the problem are gone: it is sent again.
                    if attempt == ATTEMPTS - 1 or self._client.status != "running":
                        raise
                    self._sent = None
        raise AssertionError("the last attempt returns or raises")

    def _shared(self, problem: Any) -> Any:
        """The problem on the workers, sent once however many tasks ask about it."""
        if self._sent is None or self._sent[0] is not problem:
            self._sent = problem, self._client.scatter(problem, broadcast=True, hash=False)
        return self._sent[1]


@dataclass
class ClusterTable(OutOfCoreTable):
    """A table whose rows are on the workers of a cluster.

    Attributes
    ----------
    client : distributed.Client
    chunks : list of distributed.Future
        Arrays of rows.
    starts : numpy.ndarray of int
        Index of the first row of every chunk, and finally the number of rows.
    mean, scale : numpy.ndarray of shape (m,)
    resources : Resources
    limits : numpy.ndarray of shape (2, m) or None
    kinds : Kinds or None
    order : numpy.ndarray of int or None
    hashes : numpy.ndarray of uint64 or None
    """

    client: Any
    chunks: list[Any]
    starts: HostArray
    mean: HostArray
    scale: HostArray
    resources: Resources
    limits: HostArray | None = None
    kinds: Kinds | None = None
    order: HostArray | None = None
    hashes: HostArray | None = None

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    def arranged(self, arrangement: Arrangement) -> tuple[ClusterTable, ClusterTable]:
        """The rows of an arrangement with weighted column statistics, and the same rows without weights."""
        counts, order, weights = arrangement.as_read(self.n_rows)
        counts_of = np.split(counts, self.starts[1:-1])
        kept = [(chunk, some) for chunk, some in zip(self.chunks, counts_of, strict=True) if some.any()]
        with _cluster_errors(self.client):
            chunks = [self.client.submit(repeated_rows, *pair, pure=False) for pair in kept]
        starts = np.cumsum([0, *(int(some.sum()) for _, some in kept)])
        blocks = [(chunk, None, self.kinds) for chunk in chunks]
        total = plain = merge_blocks(_run(self.client, ColumnStatistics.of, blocks))
        if weights is not None:
            pairs = zip(chunks, np.split(weights, starts[1:-1]), strict=True)
            weighted = [(chunk, some, self.kinds) for chunk, some in pairs]
            total = merge_blocks(_run(self.client, ColumnStatistics.of, weighted))
        scales = plain.scales(self.kinds)
        hashes = None if self.hashes is None else np.repeat(self.hashes, counts)
        given = ClusterTable(
            client=self.client,
            chunks=chunks,
            starts=starts,
            resources=self.resources,
            hashes=hashes,
            **scales,
        )
        return replace(given, order=order, **total.scales(self.kinds)), given

    def numbered_by_weight(
        self, row_weights: HostArray | None, key_hashes: HostArray
    ) -> tuple[ClusterTable, HostArray]:
        """The same rows with levels renumbered by the total weight of their rows, and the new numbers."""
        assert self.kinds is not None
        columns = np.flatnonzero(self.kinds.is_category)
        none = [None] * len(self.chunks)
        weights = none if row_weights is None else np.split(row_weights, self.starts[1:-1])
        n_levels = self.kinds.n_levels[columns]
        of_keys = np.split(key_hashes, self.starts[1:-1])
        beside = zip(self.chunks, weights, of_keys, strict=True)
        blocks = [(f, columns, n_levels, some, keys) for f, some, keys in beside]
        numbers = reduce(LevelTotals.merged, _run(self.client, level_totals, blocks)).numbers()
        with _cluster_errors(self.client):
            chunks = [self.client.submit(renumbered, f, columns, numbers, pure=False) for f in self.chunks]
        hashes = np.concatenate(_run(self.client, row_hashes, [(f,) for f in chunks]))
        table = replace(self, chunks=chunks, hashes=hashes, **self.scales_renumbered(numbers))
        return table, numbers

    def _read(self, rows: HostArray) -> Table:
        places = np.searchsorted(rows, self.starts)
        wanted = [
            (chunk, rows[low:high] - start)
            for chunk, start, low, high in zip(
                self.chunks, self.starts[:-1], places[:-1], places[1:], strict=True
            )
            if high > low
        ]
        found = _run(self.client, take_rows, wanted)
        return self.table_of(np.concatenate(found))

    def appended(self, values: HostArray, mean: HostArray, scale: HostArray) -> ClusterTable:
        """The same rows with further columns, which are appended on the workers."""
        with _cluster_errors(self.client):
            chunks = [
                self.client.submit(joined_columns, chunk, values[start:stop], pure=False)
                for chunk, start, stop in zip(self.chunks, self.starts[:-1], self.starts[1:], strict=True)
            ]
        return replace(self, chunks=chunks, mean=mean, scale=scale)

    def parts(self, target: Any, fold_of_row: HostArray, part_rows: int) -> ClusterParts:
        """The rows with their targets and folds, in the chunks on the workers."""
        target, fold_of_row = self.in_order_of_reading(target, fold_of_row)
        parts = []
        with _cluster_errors(self.client):
            workers = self._even_places()
            for chunk, worker, start, stop in zip(
                self.chunks, workers, self.starts[:-1], self.starts[1:], strict=True
            ):
                beside = (
                    target.slice_of(start, stop),
                    fold_of_row[..., start:stop],
                    self.resources.precision,
                )
                scales = (self.mean, self.scale, self.limits, self.kinds)
                parts.append(_submit(self.client, worker, make_part, chunk, scales, *beside))
        return ClusterParts(self.client, parts, np.diff(self.starts), self.resources)

    def _even_places(self) -> list[str]:
        """A worker for every chunk: one that has it, unless that one has more rows than its share by then."""
        holders = self.client.who_has(self.chunks)
        threads = {name: max(1, n) for name, n in self.client.nthreads().items()}
        share = self.n_rows / max(1, sum(threads.values()))
        loads = dict.fromkeys(sorted(threads), 0.0)
        places = []
        for chunk, size in zip(self.chunks, np.diff(self.starts), strict=True):
            here = [name for name in holders.get(chunk.key, ()) if name in loads]
            near = [name for name in here if loads[name] + 0.5 * size <= share * threads[name]]
            candidates = sorted(near or loads)
            place = min(candidates, key=lambda name: loads[name] / threads[name], default="")
            if place:
                loads[place] += float(size)
            places.append(place)
        return places

    def read_columns(self, columns: HostArray) -> Table | None:
        """Return None: the rows stay on the workers, which compute in parallel."""
        return None


@dataclass
class ClusterParts:
    """Parts of the rows on workers; in a pass, every thread of a worker runs one task on its parts."""

    client: Any
    parts: list[Any]
    sizes: HostArray
    resources: Resources
    _sent: tuple[HostArray, dict[str, Any]] | None = field(default=None, init=False)

    def _shares(self) -> list[tuple[str, list[int]]]:
        """Workers and the numbers of the parts that they have, cut for their threads."""
        from distributed import wait

        wait(self.parts)
        places = self.client.who_has(self.parts)
        threads = {name: max(1, n) for name, n in self.client.nthreads().items()}
        at: dict[str, list[int]] = {}
        for number, part in enumerate(self.parts):
            workers = sorted(places.get(part.key, ())) or [""]
            at.setdefault(workers[0], []).append(number)
        shares = []
        for worker, parts in sorted(at.items()):
            n_shares = min(threads.get(worker, 1), len(parts))
            shares.extend([(worker, parts[i::n_shares]) for i in range(n_shares)])
        return shares

    def sum(self, function: Callable[..., Any], *arguments: Any, columns: HostArray | None) -> Any:
        """Sum a function over the parts: on each worker first, then in this process."""
        with _cluster_errors(self.client):
            task = self.client.submit(make_task, function, arguments, pure=False)
            shares = self._shares()
            tasks = [
                _submit(self.client, worker, sum_parts, task, [self.parts[i] for i in share])
                for worker, share in shares
            ]
            return add_up(self.client.gather(tasks))

    def sum_pairs(self, function: Callable[..., Any], *arguments: Any, columns: HostArray) -> Any:
        """Add up over pairs of parts: every worker is sent as many parts at a time as fit into the cache."""
        groups = self._groups(columns)
        found: list[Any] = []
        with _cluster_errors(self.client):
            task = self.client.submit(make_task, function, arguments, pure=False)
            shares = self._shares()
            workers = {worker for worker, _ in shares}
            for group in groups:
                sent = self._send(group, columns, workers, keep=len(groups) == 1)
                tasks = [
                    _submit(
                        self.client,
                        worker,
                        sum_pairs_of,
                        task,
                        sent[worker],
                        share,
                        [self.parts[i] for i in share],
                    )
                    for worker, share in shares
                ]
                found += self.client.gather(tasks)
        return add_up(found)

    def _groups(self, columns: HostArray) -> list[list[int]]:
        """Cut the parts into such as may be held at a time, at least one."""
        # What goes with the targets is four numbers for each row.
        most = self.resources.cache_bytes() // (8 * (columns.size + 4))
        groups: list[list[int]] = []
        size = 0
        for number, n_rows in enumerate(self.sizes):
            if not groups or size + n_rows > most:
                groups.append([])
                size = 0
            groups[-1].append(number)
            size += int(n_rows)
        return groups

    def _send(self, group: list[int], columns: HostArray, workers: set[str], *, keep: bool) -> dict[str, Any]:
        """Collect some columns of some parts, and send them to each worker.

        All parts of the same columns, or of some of them, are not sent again.
        """
        known = self._sent
        if keep and known is not None and np.isin(columns, known[0]).all() and workers <= set(known[1]):
            return known[1]
        narrow = [self.client.submit(narrow_part, self.parts[i], columns, pure=False) for i in group]
        gathered = self.client.submit(numbered, group, narrow, pure=False)
        # A copy of what another worker has could be removed between two passes.
        sent = {worker: _submit(self.client, worker, kept_parts, gathered) for worker in sorted(workers)}
        self._sent = (columns, sent) if keep else None
        return sent


def _cluster_table(
    client: Any,
    chunks: Sequence[Any],
    names: list[str] | None,
    resources: Resources,
    known: dict[int, list[Any]],
) -> tuple[ClusterTable, list[list[Any] | None] | None]:
    with _cluster_errors(client):
        raw = client.compute(list(chunks))
        futures = [client.submit(chunk_values, chunk, known, pure=False) for chunk in raw]
        seen = [client.submit(digits_of, chunk, pure=False) for chunk in raw]
        # As it was given, a chunk is kept no longer than until both have read it.
        del raw
        digits = Digits()
        for some in client.gather(seen):
            digits.merge(some)
    digits.finish()
    sizes = _run(client, len, [(chunk,) for chunk in futures])
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    kept = [(f, start, size) for f, start, size in zip(futures, starts[:-1], sizes, strict=True) if size]
    found = _run(client, column_sums, [(f, int(start), names) for f, start, _ in kept])
    widths = {sums.mean.size for sums in found}
    if len(widths) > 1:
        raise ValueError(
            f"X has chunks with different numbers of columns, {sorted(widths)}: pass the same in all chunks."
        )
    total = merge_blocks(found)
    starts = np.array([*(start for _, start, _ in kept), total.n_rows])
    resources = replace(resources, cluster=Cluster(client))
    rows = [f for f, _, _ in kept]
    categories: dict[int, tuple[list[Any], HostArray]] = {}
    if known:
        counts = _run(client, level_counts, [(f, known) for f in rows])
        categories, numbers = by_frequency(known, counts)
        with _cluster_errors(client):
            rows = [client.submit(renumbered, f, *numbers, pure=False) for f in rows]
    kinds, mean, scale = kinds_of(total, categories)
    hashes = np.concatenate(_run(client, row_hashes, [(f,) for f in rows]))
    table = ClusterTable(client, rows, starts, mean, scale, resources, kinds=kinds, hashes=hashes)
    return table, all_levels(mean.size, categories)


@contextmanager
def _cluster_errors(client: Any) -> Iterator[None]:
    """Raise one clear error for a failure of the cluster; errors of a task are left as they are."""
    from distributed import CancelledError
    from distributed.comm.core import CommClosedError
    from distributed.scheduler import KilledWorker

    try:
        yield
    except KilledWorker as error:
        raise RuntimeError(
            "The cluster lost a worker several times during the same task: give workers more memory, or pass "
            f"smaller chunks. ({error})"
        ) from None
    except (CancelledError, CommClosedError):
        raise RuntimeError(GONE) from None
    except Exception:
        if client.status == "running":
            raise
        raise RuntimeError(GONE) from None


def _submit(client: Any, worker: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Run a function where the rows are, or wherever they are made again when that worker is gone."""
    where = {"workers": [worker], "allow_other_workers": True} if worker else {}
    return client.submit(function, *arguments, pure=False, **where)


def _run(client: Any, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Results of a function for each tuple of arguments."""
    with _cluster_errors(client):
        futures = [client.submit(function, *some, pure=False) for some in arguments]
        found: list[Any] = client.gather(futures)
    return found


# -- what workers do ---------------------------------------------------------------------------
