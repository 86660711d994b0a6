"""How columns are used, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from l1lsmi._messages import counted, listed

LEFT_OUT = "left out: "
ROW_NUMBERS = "row numbers"
NOT_REQUESTED = "excluded by drop or keep"


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """How a column of a table is used.

    Parameters
    ----------
    name : str
    kind : str
        "number", "yes/no", "category", "ordered category", "date", "text", "empty" or "constant".
    n_missing : int
        Cells without a value, in the whole table.
    used_as : str
        "number", "number of days", "yes/no", "category with 3 levels", "ordered category with 3 levels",
        "target", "groups", "weights", "covariate", or "left out: " with the reason.

    Examples
    --------
    >>> from l1lsmi.files import ColumnUse
    >>> ColumnUse("age", "number", 2, "number").used
    True
    """

    name: str
    kind: str
    n_missing: int
    used_as: str

    @property
    def used(self) -> bool:
        """Whether it is used at all."""
        return not self.used_as.startswith(LEFT_OUT)


def remark_notes(remarks: Iterable[tuple[str, str]]) -> list[str]:
    """One note for each remark, with the names of its columns.

    Parameters
    ----------
    remarks : iterable of (str, str)
        The name of a column, and what is said of it.
    """
    names_of: dict[str, list[str]] = {}
    for name, remark in remarks:
        names_of.setdefault(remark, []).append(name)
    return [
        f"{counted(len(names), 'column')} {remark}: {listed(names)}." for remark, names in names_of.items()
    ]


def left_out_notes(uses: Sequence[ColumnUse]) -> list[str]:
    """One note for each reason why columns are left out, except that they were not asked for."""
    names_of: dict[str, list[str]] = {}
    for use in uses:
        reason = use.used_as.removeprefix(LEFT_OUT)
        # A column without a name has a note of its own.
        if not use.used and use.name and reason != NOT_REQUESTED:
            names_of.setdefault(reason, []).append(use.name)
    notes = []
    for reason, names in names_of.items():
        them = "it" if len(names) == 1 else "them"
        named = f"; to use {them}, name {them} in keep, together with all other columns to use"
        hint = named if reason == ROW_NUMBERS else ""
        notes.append(f"Left out {counted(len(names), 'column')} ({reason}): {listed(names)}{hint}.")
    return notes
