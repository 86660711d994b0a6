"""A table of columns, each with its kind: the result of reading any format."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from l1lsmi._columns.cells import Cells, text_cells
from l1lsmi._columns.rules import numbers_rows
from l1lsmi._messages import counted, printable, quoted, suggestion
from l1lsmi.files.problem import FileProblem

Values = npt.NDArray[Any]
#: The source of a table that was read from it.
STANDARD_INPUT = "standard input"


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Column:
    """A column of a file.

    Parameters
    ----------
    name : str
        As it stands in the file.
    kind : str
        "number", "yes/no", "category", "date", "text", "empty" or "constant". Strings that are different in
        (almost) every row are text.
    values : ndarray of shape (n_rows,)
        float64 with NaN where a value is missing: for dates the days since 1970-01-01, for yes/no 0 and 1.
        Strings are an array of objects, each a str, or None where it is missing.
    n_missing : int
    words : tuple of two str
        The text in the file that stands for 0 and for 1 in a yes/no column.
    feature : bool
        False for row names and other data about rows: such a column becomes a feature only if it is named in
        ``keep``.
    raw : array or None
        The values in the file, for writing them again; None where they are the same as ``values``.
    cells : Cells or None
        The text of the file where it is not plain numbers, for `l1lsmi.preparation.TablePreparation`.

    Examples
    --------
    >>> import numpy as np
    >>> from l1lsmi.files import Column
    >>> Column("age", "number", np.array([31.0, np.nan, 27.0]), n_missing=1)
    <'age': number, 3 rows, 1 missing>
    """

    name: str
    kind: str
    values: Values
    n_missing: int
    words: tuple[str, str] = ("0", "1")
    feature: bool = True
    raw: Any = None
    cells: Cells | None = None

    def __repr__(self) -> str:
        n_rows = counted(len(self.values), "row")
        return f"<{quoted(self.name)}: {self.kind}, {n_rows}, {self.n_missing} missing>"

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers rather than strings."""
        return self.values.dtype.kind == "f"

    @property
    def missing(self) -> Values:
        """Which rows have no value, as a mask."""
        if self.numeric:
            return np.asarray(np.isnan(self.values))
        return np.array([value is None for value in self.values.tolist()], dtype=bool)

    @property
    def numbers_rows(self) -> bool:
        """Whether values are start, start + 1, ...: these reveal a target that the rows are sorted by."""
        return self.kind == "number" and not self.n_missing and numbers_rows(self.values)

    def as_cells(self, as_category: bool) -> Cells:
        """The cells before they are parsed; for a category, the text of the file."""
        kind = str(getattr(self.raw, "type", ""))
        is_text = "string" in kind
        if (
            kind.startswith("dictionary")
            or (as_category and is_text)
            or (kind and not is_text | self.numeric)
        ):
            # Imported here, as it imports pyarrow.
            found: Cells = importlib.import_module("l1lsmi._columns.arrow").arrow_cells(self.raw)
            return found
        if self.cells is not None:
            return self.cells
        if not self.numeric:
            return text_cells(self.values.tolist())
        is_yes_no = self.words != ("0", "1")
        return Cells("yes/no" if is_yes_no else "date" if self.kind == "date" else "number", self.values)


@dataclass(eq=False, repr=False)
class DataTable:
    r"""A table that was read from a file.

    Parameters
    ----------
    columns : list of Column
        In the order of the file.
    n_rows : int
    source : str
        The path of the file, or "standard input" or "the stream".
    format : str
        "csv", "tsv", "parquet", "feather", "excel", "npz", "mat" or "h5ad".
    notes : tuple of str
        Decisions made while reading the file, one sentence each.
    sha256 : str or None
        Checksum of the bytes that were read.
    decimal : {".", ","}
        As in `l1lsmi.preparation.TablePreparation`.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import read_table
    >>> table = read_table(io.BytesIO(b"age,sex\n31,f\nNA,m\n27,f\n"))
    >>> table
    <csv, the stream: 3 rows, 2 columns>
    >>> table.names
    ['age', 'sex']
    >>> table.column("sex").values.tolist()
    ['f', 'm', 'f']
    """

    columns: list[Column]
    n_rows: int
    source: str = "a table"
    format: str = "csv"
    notes: tuple[str, ...] = ()
    sha256: str | None = None
    decimal: str = "."
    _index_of: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._index_of = {column.name: index for index, column in enumerate(self.columns)}
        if len(self._index_of) < len(self.columns):
            raise FileProblem(_repeated(self.source, self.names))

    def __repr__(self) -> str:
        size = f"{counted(self.n_rows, 'row')}, {counted(len(self.columns), 'column')}"
        return f"<{self.format}, {printable(self.source)}: {size}>"

    @property
    def names(self) -> list[str]:
        """Names of the columns, in the order of the file."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """The column of that name; if there is none, the error suggests similar names."""
        if name not in self._index_of:
            is_data = any("looks like data" in note for note in self.notes)
            hint = " The first row looks like data: put a row of names above it." if is_data else ""
            raise FileProblem(
                f"{printable(self.source)} has no column named {quoted(name)}: "
                f"{suggestion(name, self.names)}{hint}"
            )
        return self.columns[self._index_of[name]]

    def column_cells(self, name: str, as_category: bool = False) -> Cells:
        """The cells of a column before they are parsed, for `l1lsmi.preparation.TablePreparation`."""
        return self.column(name).as_cells(as_category)

    def load(self, names: Sequence[str]) -> DataTable:
        """A table with at least these columns in memory."""
        return self

    @property
    def on_disk(self) -> bool:
        """Whether the values of features are on disk rather than in memory."""
        return False

    def streamed(self, names: Sequence[str]) -> Any:
        """Some columns as features on disk; None for a table in memory."""
        return None


def split_names(texts: Sequence[str], table: DataTable) -> list[str]:
    r"""Split texts that have several names of columns, separated by commas.

    Parameters
    ----------
    texts : sequence of str
        Parts that together are the name of a column, such as "c,d" below, stay together.
    table : DataTable

    Returns
    -------
    list of str
        Parts that are not the name of a column are included.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import read_table
    >>> from l1lsmi.files.table import split_names
    >>> table = read_table(io.BytesIO(b'a,b,"c,d"\n1,2,3\n'))
    >>> split_names(["a, b", "c,d"], table), split_names(["c,d,a"], table)
    (['a', 'b', 'c,d'], ['c,d', 'a'])
    """
    known, found = {*table.names}, list[str]()
    for text in texts:
        parts = text.split(",")
        while parts:
            for n in range(len(parts), 0, -1):
                joined = ",".join(parts[:n])
                name = joined if joined in known else joined.strip()
                if name in known or n == 1:
                    found.append(name)
                    parts = parts[n:]
                    break
    return found


def _repeated(source: str, names: Sequence[str]) -> str:
    counts = Counter(names)
    name, count = counts.most_common(1)[0]
    if not name.strip():
        return f"{printable(source)} has {count} columns without a name: give each a name of its own."
    n_others = sum(times > 1 for times in counts.values()) - 1
    also = f" ({counted(n_others, 'other name')} repeated too)" if n_others else ""
    return f"{printable(source)} has {count} columns named {quoted(name)}{also}: rename or drop all but one."
