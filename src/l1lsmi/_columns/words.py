"""What was decided about cells, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from l1lsmi._columns.rules import Reading
from l1lsmi._columns.use import remark_notes
from l1lsmi._messages import counted, listed, quoted


def reading_notes(readings: Mapping[str, Reading]) -> list[str]:
    """How columns were read, and which of their cells were not, one sentence each."""
    remarks = [(name, remark) for name, reading in readings.items() for remark in reading.remarks]
    unread = [_unread_cells(name, reading) for name, reading in readings.items() if reading.n_unread]
    return remark_notes(remarks) + unread


def _unread_cells(name: str, reading: Reading) -> str:
    what = "date" if reading.cells.kind == "date" else "number"
    named = ", ".join(f"{quoted(text)} in row {row}" for row, text in reading.unread)
    n_more = reading.n_unread - len(reading.unread)
    more = f" and {n_more} more" if n_more else ""
    are = f"cells that are not {what}s and count"
    if reading.n_unread == 1:
        are = f"cell that is not a {what} and counts"
    return (
        f"Column {quoted(name)} has {reading.n_unread:,} {are} as missing (rows are counted from 0): "
        f"{named}{more}."
    )


def reading_warnings(name: str, reading: Reading, whose: str) -> list[str]:
    """What has to be said about new rows of a column.

    Parameters
    ----------
    name : str
    reading : Reading
    whose : str
        What is said about levels that are not those of the rule.
    """
    said = [_unread_cells(name, reading)] if reading.n_unread else []
    if reading.unknown:
        levels, names = counted(len(reading.unknown), "level"), listed(reading.unknown)
        said.append(f"Column {quoted(name)} has {levels} {whose}: {names}.")
    return said
