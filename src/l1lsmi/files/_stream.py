"""Parquet and Feather files whose columns stay on disk: read a few columns, or a batch of rows, at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from l1lsmi import _arrow
from l1lsmi.files.formats import by_name
from l1lsmi.files.formats.arrow import add_table, check_decoded, mark_index
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import arrow
from l1lsmi.files.problem import damage
from l1lsmi.files.table import Column, DataTable, Values


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
                found.append(_arrow.batch_values(batch.take(arrow().array(inside - start)), names))
            start = stop
        return np.concatenate(found)


@dataclass(eq=False, repr=False)
class StreamedTable(DataTable):
    """A table of which only the target is in memory."""

    file: Any = None
    dataset: Any = None

    def streamed(self, names: Sequence[str]) -> StreamedFeatures:
        """Some numeric columns as features on disk."""
        schema = arrow().schema([self.dataset.schema.field(name) for name in names])
        return StreamedFeatures(self.file, self.dataset.replace_schema(schema), (self.n_rows, len(names)))

    def load(self, names: Sequence[str]) -> DataTable:
        """A table of some columns in memory."""
        columns = Columns(names)
        add_table(columns, range(len(names)), self.file.read(names), self.source)
        return DataTable(columns.in_order(), self.n_rows, self.source, self.format)


def stream_table(
    source: str, target: str, format: str | None, drop: Collection[str], only: Collection[str]
) -> StreamedTable | None:
    """A table whose features are read from disk in batches, where that is possible.

    Parameters
    ----------
    source : str
    target : str
    format : str or None
        None takes it from the name of the file.
    drop, only : collection of str
        As for `l1lsmi.files.prepare`.

    Returns
    -------
    StreamedTable or None
        None if the file has to be read into memory: it has another format, or is no larger than a batch, or
        features have to be encoded, or values are missing. Files that cannot be read are None as well, as
        reading them into memory gives the error.
    """
    format = format or by_name(source)
    if format not in ("parquet", "feather") or not Path(source).is_file():
        return None
    try:
        dataset, file = _arrow.as_dataset(source, format), _arrow.ArrowFile(source, format)
        n_rows, schema = dataset.count_rows(), dataset.schema
    except _arrow.READ_ERRORS:
        return None
    if n_rows * len(schema.names) <= _arrow.BATCH_VALUES:
        return None
    _check_names(schema.names, (target, *drop, *only), source)
    features = _features(schema, target, drop, only)
    if features is None:
        return None
    columns = _described(file, schema.names, n_rows, target, source)
    mark_index(columns, schema)
    incomplete = {c.name for c in columns.found.values() if c.n_missing and c.kind != "empty"}
    if incomplete & {target, *features}:
        return None
    with open(source, "rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    notes = tuple(columns.notes)
    return StreamedTable(columns.in_order(), n_rows, source, format, notes, sha256, file, dataset)


def _check_names(names: Sequence[str], asked: Sequence[str], source: str) -> None:
    """Refuse repeated and unknown names before the columns are read."""
    table = DataTable([Column(name, "number", np.empty(0), 0) for name in names], 0, source)
    for name in asked:
        table.column(name)


def _features(schema: Any, target: str, drop: Collection[str], only: Collection[str]) -> set[str] | None:
    """Columns that may become features; None if not all of them are numeric."""
    index = _arrow.index_columns(schema)
    features = {*(only or schema.names)} - {target, *drop, *(() if only else index)}
    # An index that is asked for has to be read into memory, as selectors leave it out.
    usable = {field.name for field in schema if _arrow.is_number(field.type)} - {*index}
    return features if features <= usable else None


def _described(file: Any, names: Sequence[str], n_rows: int, target: str, source: str) -> Columns:
    """All columns without their values, apart from the target; they are read a few at a time."""
    if file.parquet is not None:
        check_decoded(file.parquet, source)
    columns = Columns(names)
    n_columns = max(1, _arrow.BATCH_VALUES // (8 * n_rows))
    for start in range(0, len(names), n_columns):
        some = names[start : start + n_columns]
        with damage(source, "a table of Arrow"):
            table = file.read(some)
        places = range(start, start + len(some))
        add_table(columns, places, table, source)
        for place in places:
            columns.found[place] = _without_values(columns.found[place], target)
    arrow().default_memory_pool().release_unused()
    return columns


def _without_values(column: Column, target: str) -> Column:
    if column.name == target:
        return replace(column, raw=None)
    return StreamedColumn(
        column.name,
        column.kind,
        np.empty(0),
        column.n_missing,
        column.words,
        column.feature,
        numbers_rows=column.numbers_rows,
    )
