"""What the catalogue says of a data set: its size, where it is published, and how that file is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class OpenML:
    """A data set of OpenML; the server is asked for the address of the file and for its checksum.

    Parameters
    ----------
    id : int
    """

    id: int


@dataclass(frozen=True)
class Archive:
    """A file of the UCI archive.

    Parameters
    ----------
    path : str
        Below the address of the archive.
    members : tuple of str
        Files of a zip archive, one below the other; none where the file itself is the table.
    delimiter : str or None
        What stands between two values; None is white space.
    skip : int
        Lines before the first row.
    header : bool
        Whether the first line after those names the columns.
    sha256 : str
        Of the file as published, where it is known. The archive itself states none.
    """

    path: str
    members: tuple[str, ...] = ()
    delimiter: str | None = ","
    skip: int = 0
    header: bool = False
    sha256: str = ""


@dataclass(frozen=True)
class Recipe:
    """How a published table becomes the one that the paper used.

    Parameters
    ----------
    target : int or str
        Column with the target, by place or by name.
    labels : tuple of tuple of str
        What the source calls the first class, the second and so on; a class may join several.
    leave_out : tuple of int
        Columns that are no features.
    codes : mapping
        By column, the words that stand for 1, 2 and so on.
    prefix : str
        Letter before a number that is a code.
    groups : int or None
        Column that says which rows belong together.
    blocks : tuple of int
        In its place, how many rows each group has, one below the other.
    varying_only : bool
        Leave out columns with one value.
    complete_only : bool
        Leave out rows with a missing value.
    standardise : str
        "X", "Xy" or "": what has mean 0 and standard deviation 1 (divisor n - 1) in the paper's copy.
    feature_names : tuple of str
        None: those of the file.
    """

    target: int | str = -1
    labels: tuple[tuple[str, ...], ...] = ()
    leave_out: tuple[int, ...] = ()
    codes: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    prefix: str = ""
    groups: int | None = None
    blocks: tuple[int, ...] = ()
    varying_only: bool = False
    complete_only: bool = False
    standardise: str = "X"
    feature_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One data set of the catalogue.

    Parameters
    ----------
    rows, columns : int
        As in the paper's table.
    counts : tuple of int
        Rows of each class; none for regression.
    source : OpenML, Archive or None
        None where nobody publishes it.
    recipe : Recipe
    class_names : tuple of str
    first_label : int
        Number of the first class.
    downloaded_rows : int or None
        Rows of the published file where the paper has only some of them.
    downloaded_counts : tuple of int
    grouped_by : str
        What the rows of a group share.
    partial_file : str
        Name of a file with only some of the rows.
    note : str
        How the downloaded copy differs from the paper's.
    licence, citation : str
    """

    rows: int
    columns: int
    counts: tuple[int, ...] = ()
    source: OpenML | Archive | None = None
    recipe: Recipe = Recipe()
    class_names: tuple[str, ...] = ()
    first_label: int = 1
    downloaded_rows: int | None = None
    downloaded_counts: tuple[int, ...] = ()
    grouped_by: str = ""
    partial_file: str = ""
    note: str = ""
    licence: str = "CC BY 4.0"
    citation: str = ""

    @property
    def task(self) -> str:
        return "classification" if self.counts else "regression"

    def after_download(self) -> tuple[int, tuple[int, ...]]:
        """Rows of the published copy, and of each class."""
        return self.downloaded_rows or self.rows, self.downloaded_counts or self.counts
