"""The reader of Parquet, Feather and Arrow files and of pyarrow datasets: whole, or in record batches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    import pyarrow as pa
    from pyarrow import dataset, feather, ipc, parquet, types
except ImportError:
    raise ValueError(
        "A Parquet or Feather file needs pyarrow, which is not installed: pip install 'l1lsmi[parquet]'."
    ) from None

#: Values in a batch at most: a pass over the rows has a few batches in memory.
BATCH_VALUES = 4_000_000
#: Rows in a batch at most, where there are few columns.
BATCH_ROWS = 50_000
#: Bytes that are read ahead of each column of a Parquet file.
BUFFER_BYTES = 2**18
#: The name that pandas gives to the column of an index without a name.
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
#: What pyarrow raises for a file that cannot be read, or whose names of columns are not text.
READ_ERRORS = (pa.ArrowException, OSError, UnicodeDecodeError)
STREAM_MAGIC = b"\xff\xff\xff\xff"


class ArrowFile:
    """A Parquet, Feather or Arrow stream file.

    Parameters
    ----------
    source : path, pyarrow.Buffer or pyarrow.NativeFile
    format : str
        "parquet" or "feather"; Arrow files and streams are "feather".

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pyarrow import parquet
    >>> from l1lsmi._arrow import ArrowFile
    >>> stream = pa.BufferOutputStream()
    >>> parquet.write_table(pa.table({"a": [1, 2, 3], "b": [4, 5, 6]}), stream)
    >>> file = ArrowFile(stream.getvalue(), "parquet")
    >>> file.read(["b"]).column_names, [batch.num_rows for batch in file.batches(["a", "b"])]
    (['b'], [3])
    """

    def __init__(self, source: Any, format: str) -> None:
        in_memory = isinstance(source, pa.Buffer)
        if not isinstance(source, pa.NativeFile):
            # Not a memory map, whose pages would count as memory of this process.
            source = pa.BufferReader(source) if in_memory else pa.OSFile(str(source))
        self.stream = source
        self.parquet: Any = None
        if format == "parquet":
            size = 0 if in_memory else BUFFER_BYTES
            self.parquet = parquet.ParquetFile(source, buffer_size=size, pre_buffer=False)

    def read(self, names: Sequence[str] | None = None) -> Any:
        """Some columns of all rows as a pyarrow.Table; None reads all columns."""
        if self.parquet is not None:
            return self.parquet.read(columns=names)
        self.stream.seek(0)
        is_stream = self.stream.read(4) == STREAM_MAGIC
        self.stream.seek(0)
        if not is_stream:
            return feather.read_table(self.stream, columns=names, memory_map=False)
        table = ipc.open_stream(self.stream).read_all()
        return table if names is None else table.select(names)

    def batches(self, names: Sequence[str]) -> Iterator[Any]:
        """Some columns in record batches of bounded size; not for Arrow streams."""
        n_rows = batch_rows(len(names))
        if self.parquet is not None:
            # One row group after the other: for several, pyarrow reads ahead without a limit.
            for group in range(self.parquet.num_row_groups):
                yield from self.parquet.iter_batches(n_rows, row_groups=[group], columns=names)
            return
        schema = ipc.open_file(self.stream).schema
        fields = [schema.get_field_index(name) for name in names]
        file = ipc.open_file(self.stream, options=ipc.IpcReadOptions(included_fields=fields))
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            yield from (batch.slice(start, n_rows) for start in range(0, batch.num_rows, n_rows))


def batch_rows(n_columns: int) -> int:
    """Rows of a record batch at most."""
    return max(1, min(BATCH_ROWS, BATCH_VALUES // max(1, n_columns)))


def as_dataset(X: Any, format: str | None = None) -> Any:
    """A pyarrow dataset, table or record batch, or the path of files, as a dataset; else None."""
    if isinstance(X, dataset.Dataset):
        return X
    if isinstance(X, (str, PathLike)):
        return dataset.dataset(X, format=format)
    return dataset.dataset(X) if isinstance(X, (pa.Table, pa.RecordBatch)) else None


def select_columns(data: Any, names: Sequence[str]) -> Any:
    """The dataset of some columns."""
    return data.replace_schema(pa.schema([data.schema.field(name) for name in names]))


def release_memory() -> None:
    """Return memory that pyarrow keeps for later to the system."""
    pa.default_memory_pool().release_unused()


def file_format(data: Any) -> str | None:
    """The format of the files of a dataset, for `ArrowFile`; None if it has no such files."""
    found = getattr(data, "format", None)
    if isinstance(found, dataset.ParquetFileFormat):
        return "parquet"
    return "feather" if isinstance(found, dataset.IpcFileFormat) else None


def is_number(kind: Any) -> bool:
    """Whether a type of Arrow is an integer, a float or a boolean."""
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow is a string."""
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_category(kind: Any) -> bool:
    """Whether a type of Arrow is a dictionary of strings."""
    return bool(types.is_dictionary(kind) and is_text(kind.value_type))


def is_time(kind: Any) -> bool:
    """Whether a type of Arrow is a date, a time or a duration."""
    return bool(types.is_temporal(kind) and not types.is_interval(kind))


def batch_table(batch: Any, names: Sequence[str]) -> Any:
    """Some columns of a record batch as a table, by name."""
    return pa.Table.from_batches([batch]).select(list(names))


def batch_values(batch: Any, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Numeric columns of a record batch as an array of shape (rows, columns), NaN for missing values."""
    block = np.empty((batch.num_rows, len(names)))
    # By name, as the files of a dataset may have their columns in different orders.
    for j, name in enumerate(names):
        column = batch.column(batch.schema.get_field_index(name))
        column = column.cast(pa.uint8()) if types.is_boolean(column.type) else column
        block[:, j] = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return block


def index_columns(schema: Any) -> list[str]:
    """Columns that were the index of a pandas dataframe, and are no features.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from l1lsmi._arrow import index_columns
    >>> index_columns(pa.schema([("a", pa.int64()), ("__index_level_0__", pa.int64())]))
    ['__index_level_0__']
    """
    try:
        about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    except (ValueError, RecursionError):  # the metadata may be anything
        about = {}
    index = about.get("index_columns") if isinstance(about, dict) else None
    named = [name for name in index if isinstance(name, str)] if isinstance(index, list) else []
    return [name for name in schema.names if name in named or UNNAMED_INDEX.fullmatch(name)]
