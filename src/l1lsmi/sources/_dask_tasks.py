"""Functions that the workers of a cluster run."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy
from l1lsmi._blas import single_threaded_blas
from l1lsmi._rows.parts import Part, add_up
from l1lsmi._rows.stream import ColumnStatistics
from l1lsmi._rows.table import Resources, Table
from l1lsmi._validation.digits import Digits
from l1lsmi._validation.features import check_finite
from l1lsmi.sources._dask_levels import coded_chunk
from l1lsmi.sources.blocks import as_block


def _bytes_of(value: Any) -> int:
    """Bytes of a pickled value: the scheduler has to know how expensive it is to move."""
    buffers: list[pickle.PickleBuffer] = []
    size = len(pickle.dumps(value, protocol=5, buffer_callback=buffers.append))
    return size + sum(buffer.raw().nbytes for buffer in buffers)


def tell_sizes() -> None:
    """Tell dask, which sees nothing of the arrays inside them, how large parts and tasks are."""
    from dask.sizeof import sizeof

    for kind in (Part, Task):
        sizeof.register(kind, _bytes_of)


@dataclass(frozen=True)
class Task:
    """A function of a part, with what else it needs."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


def chunk_values(chunk: Any, known: dict[int, list[Any]]) -> HostArray:
    """Numbers of a chunk, levels by their known numbers."""
    return as_block(coded_chunk(chunk, known) if known else chunk, "A chunk of X")


def digits_of(chunk: Any) -> Digits:
    """What there is to know of large whole numbers of a chunk."""
    digits = Digits()
    digits.add(to_numpy(chunk) if is_non_numpy(chunk) else chunk)
    return digits


def column_sums(block: HostArray, start: int, names: list[str] | None) -> ColumnStatistics:
    """Statistics of the columns of a block, which has no infinite values."""
    check_finite(block, names, start, allow_missing=True)
    return ColumnStatistics.of(block)


def take_rows(block: HostArray, rows: HostArray) -> HostArray:
    """Some rows of a block."""
    return block[rows]


def repeated_rows(block: HostArray, counts: HostArray) -> HostArray:
    """Rows of a block, each so many times."""
    return np.repeat(block, counts, axis=0)


def joined_columns(block: HostArray, values: HostArray) -> HostArray:
    """A block with further columns."""
    return np.hstack([block, values.astype(block.dtype)])


def make_task(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Task:
    """A function with its arguments, of which dask knows the size."""
    tell_sizes()
    return Task(function, arguments)


def make_part(
    block: HostArray, scales: tuple[Any, ...], target: Any, fold_of_row: HostArray, precision: str
) -> Part:
    """A part of the rows, standardised as all rows are."""
    tell_sizes()
    # Of rows that stay on a worker no standardised copy is to be made.
    resources = Resources(memory_limit=0, precision=precision)
    mean, scale, limits, kinds = scales
    return Part(Table(block, mean, scale, resources, limits=limits, kinds=kinds), target, fold_of_row)


def narrow_part(part: Part, columns: HostArray) -> Part:
    """Some columns of a part."""
    table = part.table
    return part._replace(table=replace(table, x=table.x[:, columns], columns=columns))


def numbered(numbers: list[int], parts: list[Part]) -> dict[int, Part]:
    """Parts by their numbers."""
    return dict(zip(numbers, parts, strict=True))


def kept_parts(parts: dict[int, Part]) -> dict[int, Part]:
    """The same parts, on the worker that runs this."""
    return parts


def sum_pairs_of(task: Task, sent: dict[int, Part], numbers: list[int], parts: list[Part]) -> Any:
    """Add up over pairs of a part that was sent and one that is here, those that are this worker's to do."""

    def terms() -> Iterator[Any]:
        for j, here in zip(numbers, parts, strict=True):
            for i, one in sent.items():
                if i == j:
                    yield task.function(here, here, *task.arguments)
                # Of two parts, one does the pair: like the colours of a chessboard, so that all do as many.
                elif (i < j) == ((i + j) % 2 == 0):
                    yield task.function(one, here, *task.arguments)

    with single_threaded_blas():
        return add_up(terms())


def sum_parts(task: Task, parts: list[Part]) -> Any:
    """Add up over the parts of a worker."""

    def terms() -> Iterator[Any]:
        for part in parts:
            yield task.function(part, *task.arguments)

    with single_threaded_blas():
        return add_up(terms())
