"""A table of columns, each with its kind: what every format is read into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from l1lsmi.files.problem import FileProblem, counted, near, shown, where

Values = npt.NDArray[Any]

#: Fewer values than this may happen to count up by one.
FEWEST_NUMBERED = 10
KINDS = ("number", "yes/no", "category", "date", "text", "empty", "constant")


@dataclass(frozen=True, eq=False, repr=False)
class Column:
    """A column of a file.

    Parameters
    ----------
    name : str
        As it stands in the file.
    kind : str
        "number", "yes/no", "category", "date", "text", "empty" or "constant". A category has from 2 to 20
        levels, some of which come more than once; other words are text.
    values : ndarray of shape (n_rows,)
        float64 with NaN where a value is missing: of a date the days since 1970-01-01, of yes/no 0 and 1.
        Words are an array of objects, each a str, or None where it is missing.
    n_missing : int
    words : tuple of two str
        How the 0 and the 1 of yes/no are called in the file.
    feature : bool
        False for what is there to tell rows apart or to be the target, such as row names: it becomes a
        feature only if it is asked for by name.
    raw : array or None
        The values as they stand in the file, for writing them again; None where ``values`` says it all.

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

    def __repr__(self) -> str:
        return (
            f"<{shown(self.name)}: {self.kind}, {counted(len(self.values), 'row')}, {self.n_missing} missing>"
        )

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers rather than words."""
        return self.values.dtype.kind == "f"

    @property
    def missing(self) -> Values:
        """Which rows have no value."""
        if self.numeric:
            return np.asarray(np.isnan(self.values))
        return np.array([word is None for word in self.values.tolist()], dtype=bool)

    @property
    def numbers_rows(self) -> bool:
        """Whether the values are start, start + 1, ...: if rows are sorted by the target, they reveal it."""
        if self.kind != "number" or self.n_missing or len(self.values) < FEWEST_NUMBERED:
            return False
        return float(self.values[0]).is_integer() and bool((np.diff(self.values) == 1).all())


@dataclass(eq=False, repr=False)
class DataTable:
    r"""A table that was read from a file.

    Parameters
    ----------
    columns : list of Column
        In the order of the file.
    n_rows : int
    source : str
        The path; "standard input" or "the stream" where there is none.
    format : str
        "csv", "tsv", "parquet", "feather", "excel", "npz", "mat" or "h5ad".
    notes : tuple of str
        What was decided in reading it, one sentence each.
    sha256 : str or None
        Checksum of the bytes that were read.

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
    _places: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._places = {column.name: place for place, column in enumerate(self.columns)}
        if len(self._places) < len(self.columns):
            raise FileProblem(_repeated(self.source, self.names))

    def __repr__(self) -> str:
        size = f"{counted(self.n_rows, 'row')}, {counted(len(self.columns), 'column')}"
        return f"<{self.format}, {where(self.source)}: {size}>"

    @property
    def names(self) -> list[str]:
        """Names of the columns, in the order of the file."""
        return [column.name for column in self.columns]

    def column(self, name: str) -> Column:
        """The column of that name; if there is none, the error says which names are alike."""
        if name not in self._places:
            first = next((note for note in self.notes if "looks like data" in note), "")
            hint = "; the first row looks like data, so put a row of names above it" if first else ""
            raise FileProblem(
                f"{where(self.source)} has no column named {shown(name)}: {near(name, self.names)}{hint}."
            )
        return self.columns[self._places[name]]

    def load(self, names: Sequence[str]) -> DataTable:
        """A table with at least these columns in memory."""
        return self

    def streamed(self, names: Sequence[str]) -> Any:
        """Some columns as features on disk; None for a table in memory."""
        return None


def _repeated(source: str, names: Sequence[str]) -> str:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    name, count = max(seen.items(), key=lambda pair: pair[1])
    if not name.strip():
        return f"{where(source)} has {count} columns without a name: give each a name of its own."
    others = sum(times > 1 for times in seen.values()) - 1
    also = f" ({counted(others, 'other name')} repeated too)" if others else ""
    return f"{where(source)} has {count} columns named {shown(name)}{also}: rename or drop all but one."
