"""Parquet and Feather files, and datasets of pyarrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.table import Means
from l1lsmi.sources.opening import OpenRows
from l1lsmi.sources.visit import check_named, stream_table

#: Numbers in a block at most: a visit holds a few blocks.
BLOCK_VALUES = 4_000_000
#: Rows in a block at most, where there are few columns.
BLOCK_ROWS = 50_000
#: What pandas calls the column that it writes row labels without a name to.
ROW_LABELS = re.compile(r"__index_level_\d+__")
#: Bytes that are read ahead of each column of a Parquet file.
BUFFER = 2**18


@dataclass(frozen=True)
class ArrowSource:
    """The numbers of some columns of a dataset, in the order of its files and rows."""

    dataset: Any
    names: tuple[str, ...]
    #: Parquet files that have all columns themselves, which are read one after the other; None leaves it to
    #: the dataset.
    files: tuple[Any, ...] | None = None

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]:
        """Read blocks of the columns asked for."""
        names = list(self.names) if columns is None else [self.names[j] for j in columns]
        for batch in self.batches(names):
            yield _numbers(batch, names)

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Read batches of some columns, few at a time in memory."""
        n_rows = max(1, min(BLOCK_ROWS, BLOCK_VALUES // max(1, len(names))))
        if self.files is None:
            yield from self.dataset.to_batches(
                columns=names, batch_size=n_rows, batch_readahead=1, fragment_readahead=1
            )
            return
        import pyarrow.parquet as parquet

        # Not by the dataset, which reads several groups of rows ahead, each of up to a gigabyte.
        for fragment in self.files:
            with fragment.filesystem.open_input_file(fragment.path) as stream:
                file = parquet.ParquetFile(stream, buffer_size=BUFFER, pre_buffer=False)
                # One group of rows after the other: asked for all, it reads ahead without bound.
                for group in range(file.num_row_groups):
                    yield from file.iter_batches(batch_size=n_rows, row_groups=[group], columns=names)


def _numbers(batch: Any, names: list[str]) -> HostArray:
    block = np.empty((batch.num_rows, len(names)))
    # Files of a dataset may have their columns in another order.
    for j, name in enumerate(names):
        column = batch.column(batch.schema.get_field_index(name))
        block[:, j] = column.to_numpy(zero_copy_only=False)
    return block


def open_arrow(X: Any, y: Any, means: Means) -> OpenRows:
    """Open a path, a dataset or a table of pyarrow."""
    check_named(y)
    dataset, what = _dataset(X)
    target = y if isinstance(y, str) else None
    if target is not None and target not in dataset.schema.names:
        raise ValueError(f"y is {target!r}, but {what} has no such column: it has {_some(dataset)}.")
    names = tuple(n for n in dataset.schema.names if n != target and not ROW_LABELS.fullmatch(n))
    _check_names(dataset, names, what)
    source = ArrowSource(dataset, names, _plain_files(dataset, names if target is None else (*names, target)))
    if target is not None:
        y = _column(source, target, what)
    return OpenRows(stream_table(source, names, means), y, list(names))


def _dataset(X: Any) -> tuple[Any, str]:
    try:
        import pyarrow as pa
        import pyarrow.dataset as ds
    except ImportError:
        raise ValueError(
            f"X is {_shown(X)}, which needs pyarrow to be read: pip install 'l1lsmi[parquet]'."
        ) from None
    if isinstance(X, ds.Dataset):
        return X, "the dataset"
    if isinstance(X, (pa.Table, pa.RecordBatch)):
        return ds.dataset(X), "the table"
    if not isinstance(X, (str, PathLike)):
        raise ValueError(f"X is a {type(X).__name__} of pyarrow: pass a dataset, a table or a path.")
    path = Path(X)
    if not path.exists():
        raise ValueError(f"X is {_shown(X)}, but there is no such file or directory.")
    kind = "feather" if path.suffix.lower() in (".feather", ".arrow", ".ipc") else "parquet"
    try:
        return ds.dataset(path, format=kind), str(path)
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise ValueError(f"X is {_shown(X)}, which cannot be read as {kind}: {first}") from None


def _check_names(dataset: Any, names: tuple[str, ...], what: str) -> None:
    import pyarrow.types as types

    if not names:
        raise ValueError(f"X is {what}, which has no columns but the target.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has {names.count(twice)} columns named {twice!r}: rename or drop all but one.")
    for name in names:
        kind = dataset.schema.field(name).type
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
            raise ValueError(
                f"X has column {name!r} of type {kind} in {what}: turn it into numbers or leave it out."
            )


def _plain_files(dataset: Any, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The Parquet files of a dataset, checked; None where their columns are not all that it has."""
    import pyarrow.dataset as ds
    import pyarrow.types as types

    if not isinstance(getattr(dataset, "format", None), ds.ParquetFileFormat):
        return None
    try:
        files = tuple(dataset.get_fragments())
    except ValueError:  # of a dataset with a filter
        return None
    # What is in the names of directories is in no file.
    outside = set(dataset.partitioning.schema.names) if dataset.partitioning is not None else set()
    for file in files:
        schema = file.physical_schema
        lacks = [name for name in names if name not in schema.names and name not in outside]
        more = [n for n in schema.names if n not in dataset.schema.names and not ROW_LABELS.fullmatch(n)]
        if lacks or more:
            has = f"has no column {lacks[0]!r}" if lacks else f"has a column {more[0]!r}"
            raise ValueError(
                f"X has files with different columns: {file.path} {has}, unlike the first. Pass files that "
                "have the same."
            )
        for name in set(names) & set(schema.names):
            kind, first = schema.field(name).type, dataset.schema.field(name).type
            if (types.is_string(kind) or types.is_large_string(kind)) != (
                types.is_string(first) or types.is_large_string(first)
            ):
                raise ValueError(
                    f"X has column {name!r} of type {kind} in {file.path} and of type {first} in the first "
                    "file: write it in one type."
                )
    return None if outside & set(names) else files


def _column(source: ArrowSource, name: str, what: str) -> HostArray:
    parts = [batch.column(0) for batch in source.batches([name])]
    if any(part.null_count for part in parts):
        raise ValueError(f"y is column {name!r} of {what}, which has missing values: drop those rows.")
    values = [part.to_numpy(zero_copy_only=False) for part in parts]
    return np.concatenate(values) if values else np.empty(0)


def _some(dataset: Any) -> str:
    names = dataset.schema.names
    shown = ", ".join(map(repr, names[:5]))
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _shown(X: Any) -> str:
    text = repr(str(X)) if isinstance(X, (str, PathLike)) else f"a {type(X).__name__}"
    return text if len(text) <= 200 else f"{text[:197]}..."
