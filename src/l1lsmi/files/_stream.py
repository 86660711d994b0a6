"""Parquet and Feather files whose columns stay on disk: read a few columns, or a batch of rows, at a time."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from l1lsmi import _arrow
from l1lsmi.files import _memory
from l1lsmi.files._formats import FORMATS, format_of_name
from l1lsmi.files._formats.arrow import add_table, check_decoded, exclude_index
from l1lsmi.files._formats.arrow_buffers import decompressed_sizes, largest_column, total_size
from l1lsmi.files._table_builder import TableBuilder
from l1lsmi.files.problem import file_problems
from l1lsmi.files.table import Column, DataTable, Values, split_names

#: Buffers of a column of text, which has most.
MAX_BUFFERS = 3


@dataclass(frozen=True, eq=False, repr=False)
class StreamedColumn(Column):
    """A column whose values are on disk."""

    numbers_rows: bool = False


@dataclass(frozen=True, eq=False)
class StreamedFeatures:
    """Feature columns on disk: the X of a `StreamedTable`.

    Attributes
    ----------
    file : ArrowFile
    dataset : pyarrow.dataset.Dataset
        Of these columns only: what a selector is fitted to.
    shape : tuple of int
    """

    file: _arrow.ArrowFile
    dataset: Any
    shape: tuple[int, int]

    def __getitem__(self, rows: Values) -> Values:
        """Read some rows, in ascending order, into memory."""
        names, found, start = self.dataset.schema.names, [], 0
        for batch in self.file.batches(names):
            stop = start + batch.num_rows
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)]
            if inside.size:
                found.append(_arrow.batch_values(batch, names)[inside - start])
            start = stop
        return np.concatenate(found)


@dataclass(eq=False, repr=False)
class StreamedTable(DataTable):
    """A table of which only the target is in memory."""

    file: Any = None
    dataset: Any = None

    @property
    def on_disk(self) -> bool:
        """Whether the values of features are on disk rather than in memory."""
        return True

    def streamed(self, names: Sequence[str]) -> StreamedFeatures:
        """Some numeric columns as features on disk."""
        dataset = _arrow.select_columns(self.dataset, names)
        return StreamedFeatures(self.file, dataset, (self.n_rows, len(names)))

    def load(self, names: Sequence[str]) -> DataTable:
        """A table of some columns in memory."""
        table = TableBuilder(names)
        add_table(table, range(len(names)), self.file.read(names), self.source)
        return DataTable(table.columns, self.n_rows, self.source, self.format)


def stream_table(
    source: str, target: str, format: str | None, drop: Sequence[str], keep: Sequence[str]
) -> StreamedTable | None:
    """A table whose features are read from disk in batches, where that is possible.

    Parameters
    ----------
    source : str
    target : str
        Names of columns, separated by commas.
    format : str or None
        None takes it from the name of the file.
    drop, keep : sequence of str
        As for `l1lsmi.files.prepare`; a text may have several names, separated by commas.

    Returns
    -------
    StreamedTable or None
        None if the file has to be read into memory: it has another format, or is no larger than a batch, or
        not all features are numbers, or values are missing. Files that cannot be read are None as well, as
        reading them into memory gives the error.
    """
    format = format or format_of_name(source)
    if format not in ("parquet", "feather") or not Path(source).is_file():
        return None
    try:
        dataset, file = _arrow.as_dataset(source, format), _arrow.ArrowFile(source, format)
        n_rows, schema = dataset.count_rows(), dataset.schema
        names = schema.names
    except _arrow.READ_ERRORS:
        return None
    if n_rows * len(names) <= _arrow.BATCH_VALUES or not _can_decompress(file, n_rows):
        return None
    targets, drop, keep = _checked_names(names, target, drop, keep, source)
    features = _features(schema, targets, drop, keep)
    if features is None:
        return None
    table = _without_values(file, names, n_rows, targets, source)
    exclude_index(table, schema)
    incomplete = {column.name for column in table.columns if column.n_missing and column.kind != "empty"}
    if incomplete & {*targets, *features}:
        return None
    with open(source, "rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return StreamedTable(
        table.columns, n_rows, source, format, tuple(table.notes), sha256, file=file, dataset=dataset
    )


def _columns_at_a_time(n_rows: int) -> int:
    return max(1, _arrow.BATCH_VALUES // (8 * n_rows))


def _can_decompress(file: _arrow.ArrowFile, n_rows: int) -> bool:
    """Whether every record batch of a Feather file, and a few columns of all of them, fit into memory."""
    if file.parquet is not None:
        return True
    try:
        sizes = decompressed_sizes(file.stream)
    except (struct.error, ValueError, IndexError, *_arrow.READ_ERRORS):
        return False
    batch = max((total_size([one]) for one in sizes), default=0)
    columns = MAX_BUFFERS * _columns_at_a_time(n_rows) * largest_column(sizes)
    return max(batch, columns) <= _memory.available_memory()


def _checked_names(
    names: Sequence[str], target: str, drop: Sequence[str], keep: Sequence[str], source: str
) -> tuple[list[str], list[str], list[str]]:
    """Refuse repeated and unknown names before the columns are read."""
    table = DataTable([Column(name, "number", np.empty(0), 0) for name in names], 0, source)
    targets, drop, keep = (split_names(texts, table) for texts in ([target], drop, keep))
    for name in (*targets, *drop, *keep):
        table.column(name)
    return targets, drop, keep


def _features(
    schema: Any, targets: Collection[str], drop: Collection[str], keep: Collection[str]
) -> set[str] | None:
    """Columns that may become features; None if not all of them are numeric."""
    index = _arrow.index_columns(schema)
    features = {*(keep or schema.names)} - {*targets, *drop, *(() if keep else index)}
    # An index that is asked for has to be read into memory, as selectors leave it out.
    usable = {field.name for field in schema if _arrow.is_number(field.type)} - {*index}
    return features if features <= usable else None


def _without_values(
    file: _arrow.ArrowFile, names: Sequence[str], n_rows: int, targets: Collection[str], source: str
) -> TableBuilder:
    """All columns without their values, apart from the targets; they are read a few at a time."""
    if file.parquet is not None:
        with file_problems(source, FORMATS["parquet"].title):
            check_decoded(file.parquet, source)
    table = TableBuilder(names)
    step = _columns_at_a_time(n_rows)
    for start in range(0, len(names), step):
        indices = range(start, min(start + step, len(names)))
        with file_problems(source, "a table of Arrow"):
            found = file.read([names[index] for index in indices])
        add_table(table, indices, found, source)
        for index in indices:
            table.change(index, _target if names[index] in targets else _on_disk)
    _arrow.release_memory()
    return table


def _target(column: Column) -> Column:
    return replace(column, raw=None)


def _on_disk(column: Column) -> Column:
    return StreamedColumn(
        column.name,
        column.kind,
        np.empty(0),
        column.n_missing,
        column.words,
        column.feature,
        numbers_rows=column.numbers_rows,
    )
