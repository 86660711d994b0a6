"""Parquet and Feather files, and datasets and tables of pyarrow, as rows that are read in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._arrow import (
    READ_ERRORS,
    ArrowFile,
    as_dataset,
    batch_rows,
    batch_table,
    batch_values,
    file_format,
    index_columns,
    is_category,
    is_number,
    is_text,
    is_time,
)
from l1lsmi._rows.table import Resources
from l1lsmi._validation.several_targets import TargetColumns
from l1lsmi.sources._first_pass import check_named, named_columns, stream_table
from l1lsmi.sources._levels import Levels
from l1lsmi.sources.opening import OpenRows


@dataclass(frozen=True)
class ArrowSource:
    """Columns of a dataset, in the order of its files and rows."""

    dataset: Any
    names: tuple[str, ...]
    levels: Levels
    #: Files that have all columns, which are read one after the other; None reads by the dataset.
    files: tuple[Any, ...] | None = None

    def blocks(self, columns: HostArray | None) -> Iterator[HostArray]:
        """Read blocks of some columns; None for all."""
        places = np.arange(len(self.names)) if columns is None else np.asarray(columns)
        names = [self.names[j] for j in places]
        kinds = {name: self.dataset.schema.field(name).type for name in names}
        if not self.levels.are_given and all(map(is_number, kinds.values())):
            for batch in self.batches(names):
                if not self.levels.are_finished:
                    self.levels.digits.add(batch_table(batch, names))
                yield batch_values(batch, names)
            return
        for batch in self.batches(names):
            yield self.levels.read(batch_table(batch, names), places)

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Read record batches of some columns."""
        if self.files is None:
            yield from self.dataset.to_batches(
                columns=names, batch_size=batch_rows(len(names)), batch_readahead=1, fragment_readahead=1
            )
            return
        # Not by the dataset, which reads several row groups ahead, each of up to a gigabyte.
        for file in self.files:
            with file.filesystem.open_input_file(file.path) as stream:
                yield from ArrowFile(stream, str(file_format(self.dataset))).batches(names)


def open_arrow(
    X: Any, y: Any, resources: Resources, sample_weight: Any = None, categorical: Any = "from_dtype"
) -> OpenRows:
    """Open a path, a dataset or a table of pyarrow."""
    check_named(y)
    dataset, what = _dataset(X)
    source, beside = _named_apart(dataset, what, y, sample_weight, categorical)
    table, levels = stream_table(source, source.names, resources, source.levels)
    return OpenRows(table, beside[0], list(source.names), beside[1], levels)


def split_table(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Split a pyarrow table in memory into features, target and weights, which may be column names."""
    dataset, what = _dataset(X)
    source, (y, sample_weight) = _named_apart(dataset, what, y, sample_weight, "from_dtype")
    return X.select(list(source.names)), y, sample_weight


def _named_apart(
    dataset: Any, what: str, y: Any, sample_weight: Any, categorical: Any
) -> tuple[ArrowSource, tuple[Any, Any]]:
    """The features of a dataset, and its target and weights, of columns where they are named."""
    targets = named_columns(y, dataset.schema.names) or []
    weights = sample_weight if isinstance(sample_weight, str) else None
    for argument, names_of in (("y", targets), ("sample_weight", [] if weights is None else [weights])):
        for name in names_of:
            if name not in dataset.schema.names:
                named = "names" if argument == "y" and not isinstance(y, str) else "is"
                raise ValueError(
                    f"{argument} {named} {name!r}, but {what} has no such column: it has {_some(dataset)}."
                )
    beside = [*targets, *([] if weights is None else [weights])]
    left_out = {*beside, *index_columns(dataset.schema)}
    names = tuple(name for name in dataset.schema.names if name not in left_out)
    _check_columns(dataset, names, what)
    files = _files(dataset, (*names, *beside))
    source = ArrowSource(dataset, names, Levels(categorical, names), files)
    if targets:
        columns = [_column(source, target, "y", what) for target in targets]
        y = columns[0] if len(columns) == 1 else TargetColumns.named(targets, columns)
    if weights is not None:
        sample_weight = _column(source, weights, "sample_weight", what)
    return source, (y, sample_weight)


def _dataset(X: Any) -> tuple[Any, str]:
    if not isinstance(X, (str, bytes, PathLike)):
        dataset = as_dataset(X)
        if dataset is None:
            raise ValueError(f"X is a {type(X).__name__} of pyarrow: pass a dataset, a table or a path.")
        return dataset, "the dataset" if dataset is X else "the table"
    given = fsdecode(X)
    if not given:
        raise ValueError("X is an empty path: pass the path of a Parquet or Feather file, or of a directory.")
    path = Path(given)
    if not path.exists():
        raise ValueError(f"X is {_shown(given)}, but there is no such file or directory.")
    kind = _kind_of(path)
    try:
        dataset = as_dataset(path, kind)
        _ = dataset.schema.names  # raises where a name is not text
        if path.is_dir() and not dataset.files:
            raise ValueError(f"X is {_shown(given)}, a directory without Parquet or Feather files.")
    except READ_ERRORS as error:
        raise ValueError(f"X is {_shown(given)}, which cannot be read as {kind}: {_reason(error)}.") from None
    return dataset, str(path)


def _kind_of(path: Path) -> str:
    """The format of a file by its name, or of a directory by the names of its files."""
    names = [path.name] if path.is_file() else [file.name for file in path.rglob("*") if file.is_file()]
    feather = [name.lower().endswith((".feather", ".arrow", ".ipc")) for name in names]
    parquet = any(name.lower().endswith((".parquet", ".pq")) for name in names)
    return "feather" if any(feather) and not parquet else "parquet"


def _reason(error: Exception) -> str:
    """What is wrong with a file, without where it was found."""
    words = (str(error).splitlines() or ["it is damaged"])[0]
    return words.rsplit("': ", 1)[-1].split(". ")[0].rstrip(". ")


def _check_columns(dataset: Any, names: tuple[str, ...], what: str) -> None:
    if not names:
        raise ValueError(f"X is {what}, which has no columns except the target: add feature columns.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"X has {names.count(twice)} columns named {twice!r}: rename or drop all but one.")
    for name in names:
        kind = dataset.schema.field(name).type
        if not (is_number(kind) or is_text(kind) or is_category(kind) or is_time(kind)):
            raise ValueError(
                f"X has column {name!r} of type {kind} in {what}: turn it into numbers or leave it out."
            )


def _files(dataset: Any, names: tuple[str, ...]) -> tuple[Any, ...] | None:
    """The files of a dataset, checked to have the same columns; None if not all columns are in the files."""
    if file_format(dataset) is None:
        return None
    try:
        files = tuple(dataset.get_fragments())
    except ValueError:  # of a dataset with a filter
        return None
    # Columns of a partitioned dataset are in the names of directories.
    outside = set(dataset.partitioning.schema.names) if dataset.partitioning is not None else set()
    for file in files:
        _check_file(file, dataset, files[0], names, outside)
    return None if outside & set(names) else files


def _check_file(file: Any, dataset: Any, first: Any, names: tuple[str, ...], outside: set[str]) -> None:
    try:
        schema, expected = file.physical_schema, first.physical_schema
    except READ_ERRORS as error:
        raise ValueError(
            f"X has the file {_shown(file.path)}, which cannot be read as {file_format(dataset)}: "
            f"{_reason(error)}; remove it from the directory, or pass files of one format."
        ) from None
    lacks = [name for name in names if name not in schema.names and name not in outside]
    more = [name for name in schema.names if name not in expected.names]
    more = [name for name in more if name not in index_columns(schema)]
    if lacks or more:
        has = f"has no column {lacks[0]!r}" if lacks else f"has a column {more[0]!r}"
        raise ValueError(
            f"X has files with different columns: {file.path} {has}, unlike the first file: pass files "
            "with the same columns."
        )
    for name in set(names) & set(schema.names):
        kind, usual = schema.field(name).type, dataset.schema.field(name).type
        if (is_text(kind) or is_category(kind)) != (is_text(usual) or is_category(usual)):
            raise ValueError(
                f"X has column {name!r} of type {kind} in {file.path} and of type {usual} in the first "
                "file: write it with the same type in all files."
            )


def _column(source: ArrowSource, name: str, argument: str, what: str) -> HostArray:
    parts = [batch.column(0) for batch in source.batches([name])]
    if any(part.null_count for part in parts):
        raise ValueError(
            f"{argument} is column {name!r} of {what}, which has missing values: drop those rows."
        )
    values = [part.to_numpy(zero_copy_only=False) for part in parts]
    return np.concatenate(values) if values else np.empty(0)


def _some(dataset: Any) -> str:
    names = dataset.schema.names
    shown = ", ".join(map(repr, names[:5]))
    return shown if len(names) <= 5 else f"{shown} and {len(names) - 5} more"


def _shown(X: Any) -> str:
    text = repr(str(X))
    return text if len(text) <= 200 else f"{text[:197]}..."
