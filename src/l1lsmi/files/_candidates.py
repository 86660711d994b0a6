"""Which columns of a table can become features, and why the others cannot."""

from __future__ import annotations

from collections.abc import Sequence

from l1lsmi._messages import counted, listed, quoted
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import Column, DataTable

LEFT_OUT = "left out: "
NOT_REQUESTED = "left out: excluded by drop or only"
ROW_NUMBERS = "row numbers"


def candidate_columns(
    table: DataTable, targets: Sequence[Column], drop: Sequence[str], only: Sequence[str]
) -> tuple[list[Column], dict[str, str]]:
    """Columns that may become features, and how the others are used."""
    for option, names in (("drop", drop), ("only", only)):
        if isinstance(names, str):
            raise ValueError(f"{option}={names!r} must be a sequence of names: pass [{names!r}].")
        for name in names:
            if any(table.column(name) is target for target in targets):
                raise FileProblem(f"The target {quoted(name)} cannot be in {option} too: name it once.")
    dropped, requested = set(drop), set(only)
    uses = {target.name: "target" for target in targets}
    for column in table.columns:
        if column.name in dropped or (requested and column.name not in requested):
            uses.setdefault(column.name, NOT_REQUESTED)
        elif not column.feature and column.name not in requested:
            uses.setdefault(column.name, f"{LEFT_OUT}describes the rows")
    return [column for column in table.columns if column.name not in uses], uses


def usable_columns(
    candidates: list[Column], max_levels: int, requested: set[str], uses: dict[str, str]
) -> list[Column]:
    """Columns that can become features before rows are left out; reasons of the others go to ``uses``."""
    usable = []
    for column in candidates:
        if reason := _reason_against(column, max_levels, column.name in requested):
            uses[column.name] = LEFT_OUT + reason
        else:
            usable.append(column)
    return usable


def _reason_against(column: Column, max_levels: int, is_requested: bool) -> str:
    """Why a column cannot be a feature; empty where it can."""
    if column.kind in ("empty", "constant"):
        return column.kind
    if column.numeric:
        return ROW_NUMBERS if not is_requested and column.numbers_rows else ""
    n_levels = len(set(column.values.tolist()) - {None})
    if n_levels == len(column.values) - column.n_missing > 2:
        return "every value is different"
    return f"text with {n_levels} levels" if n_levels > max_levels else ""


def left_out_notes(uses: dict[str, str]) -> list[str]:
    """One note for each reason why columns are left out; text shares one for all numbers of levels."""
    reasons: dict[str, list[str]] = {}
    for name, use in uses.items():
        if use.startswith(LEFT_OUT) and use != NOT_REQUESTED:
            reason = use.removeprefix(LEFT_OUT)
            reason = "text with many levels" if reason.startswith("text") else reason
            reasons.setdefault(reason, []).append(name)
    notes = []
    for reason, names in reasons.items():
        them = "it" if len(names) == 1 else "them"
        hint = f"; to use {them}, name {them} in only beside the others" if reason == ROW_NUMBERS else ""
        notes.append(f"Left out {counted(len(names), 'column')} ({reason}): {listed(names)}{hint}.")
    return notes
