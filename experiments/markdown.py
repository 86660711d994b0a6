"""Numbers and tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from experiments.reading import Cell

LONGEST_REASON = 100


def escape(text: str) -> str:
    """Text with the special characters of Markdown escaped."""
    return re.sub(r"([\\`*_|<>\[\]~])", r"\\\1", " ".join(text.split()))


def table(header: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1) -> str:
    """A table whose first columns are text and whose other columns are right-aligned."""
    marks = ["---" if i < text_columns else "---:" for i in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, marks, *rows))


def bold(text: str, on: bool = True) -> str:
    """Text in bold if `on`."""
    return f"**{text}**" if on else text


def deviation(value: float, decimals: int) -> str:
    """A standard deviation as the paper prints it, without the zero before the point."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("0") if decimals else text


def mean_sd(cell: Cell, decimals: int = 3) -> str:
    """``0.172 (.013)``: the paper's format with one digit more."""
    mean = f"{cell.mean:.{decimals}f}"
    # A single trial has no standard deviation.
    return f"{mean} ({deviation(cell.sd, decimals)})" if cell.values.size > 1 else mean


def p_value(p: float) -> str:
    """Three decimals, or ``< 0.001``."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def seconds(value: float | None) -> str:
    """Two significant digits without exponent."""
    if value is None:
        return "—"
    if value >= 10:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def duration(value: float) -> str:
    """Seconds in words."""
    if value < 120:
        return f"{value:.0f} seconds"
    return f"{value / 60:.0f} minutes" if value < 7200 else f"{value / 3600:.1f} hours"


@dataclass
class Notes:
    """Footnotes of a table, marked by letters."""

    reasons: list[str] = field(default_factory=list)

    def mark(self, reason: str) -> str:
        if reason not in self.reasons:
            self.reasons.append(reason)
        return f"({_letters(self.reasons.index(reason))})"

    def below(self, text: str) -> str:
        """A table with its notes."""
        lines = [f"- ({_letters(i)}) {escape(reason)}" for i, reason in enumerate(self.reasons)]
        return "\n".join([text, "", *lines]) if lines else text


def _letters(i: int) -> str:
    return chr(ord("a") + i) if i < 26 else _letters(i // 26 - 1) + _letters(i % 26)


def show(cell: Cell | None, notes: Notes, *, marked: bool = False, decimals: int = 3) -> str:
    """A cell of a table: a number only where every trial is done."""
    if cell is None:
        return "not run"
    if cell.done:
        return bold(mean_sd(cell, decimals), marked)
    if cell.status == "skipped":
        return f"— {notes.mark(cell.reason or '')}"
    reason = cell.reason or ""
    clipped = reason if len(reason) <= LONGEST_REASON else reason[: LONGEST_REASON - 1] + "…"
    return f"{cell.status}: {escape(clipped)}"
