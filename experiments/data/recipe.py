"""Where a dataset is published, and how the published table becomes the paper's X and y."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class OpenML:
    """A dataset of OpenML, by its number; OpenML states the checksum of the file."""

    id: int


@dataclass(frozen=True)
class UCI:
    """A file of the UCI archive.

    Attributes
    ----------
    path : str
        Path below the address of the archive.
    members : tuple of str
        Members of a zip archive, concatenated; empty if the file itself is the table.
    delimiter : str or None
        Separator of two values; None is white space.
    skip : int
        Number of lines before the header or the first row.
    header : bool
        Whether there is a line with the column names.
    sha256 : str
        Checksum of the file, where known; the archive itself states none.
    """

    path: str
    members: tuple[str, ...] = ()
    delimiter: str | None = ","
    skip: int = 0
    header: bool = False
    sha256: str = ""


@dataclass(frozen=True)
class Recipe:
    """Conversion of a published table to the paper's X and y.

    Attributes
    ----------
    target : int or str
        Position or name of the target column.
    labels : tuple
        For each class its label in the table, or a tuple of labels that are merged.
    drop : tuple of int
        Columns that are not features.
    codes : mapping
        By column, the words that are encoded as 1, 2 and so on.
    code_prefix : str
        Letter to remove before numeric codes.
    group_column : int or None
        Column with the group of each row.
    group_sizes : tuple of int
        Where the groups are consecutive rows, the number of rows of each.
    drop_constant, drop_missing : bool
        Drop constant columns; drop rows with missing values.
    standardise : str
        "X", "Xy" or "": what is scaled to mean 0 and standard deviation 1 (divisor n - 1).
    feature_names : tuple of str
        Empty: the names in the table.
    """

    target: int | str = -1
    labels: tuple[str | tuple[str, ...], ...] = ()
    drop: tuple[int, ...] = ()
    codes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    code_prefix: str = ""
    group_column: int | None = None
    group_sizes: tuple[int, ...] = ()
    drop_constant: bool = False
    drop_missing: bool = False
    standardise: str = "X"
    feature_names: tuple[str, ...] = ()


def numbered(prefix: str, n: int, start: int = 1) -> tuple[str, ...]:
    """Names that differ by a number.

    >>> numbered("f", 3)
    ('f1', 'f2', 'f3')
    """
    return tuple(f"{prefix}{i}" for i in range(start, start + n))
