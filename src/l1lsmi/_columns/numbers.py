"""Numbers in text: decimal commas, thousands, percents, currencies and brackets around negative numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from l1lsmi._columns.cells import Values

#: Least share of the cells with a value that are numbers by one convention.
NEARLY_ALL = 0.95
#: Levels that are looked at before all of them are.
N_FIRST = 200

SYMBOLS = "€$£¥₹₩₽₺₴₪฿"
CODES = (
    *("USD", "EUR", "GBP", "JPY", "CHF", "CAD", "AUD", "NZD", "CNY", "INR", "SEK", "NOK", "DKK", "PLN"),
    *("CZK", "HUF", "BRL", "MXN", "ZAR", "KRW", "SGD", "HKD", "TRY", "RUB", "ILS", "THB"),
)
CURRENCY = rf"US\$|[{SYMBOLS}]|{'|'.join(CODES)}"
MINUS = "\N{MINUS SIGN}"
BLANKS = " \N{NO-BREAK SPACE}\N{FIGURE SPACE}\N{THIN SPACE}\N{NARROW NO-BREAK SPACE}"
SPACE = f"[{BLANKS}]"
APOSTROPHE = "['\N{RIGHT SINGLE QUOTATION MARK}]"
CELL = re.compile(
    rf"(?P<open>\()?{SPACE}*(?P<sign>[+\-{MINUS}])?{SPACE}*(?P<before>{CURRENCY})?{SPACE}*"
    rf"(?P<inner>[+\-{MINUS}])?{SPACE}*"
    rf"(?P<core>[\d.,](?:[\d.,'\u2019{BLANKS}]*[\d.,])?(?:[eE][+-]?\d+)?)"
    rf"{SPACE}*(?P<after>%|{CURRENCY})?{SPACE}*(?P<close>\))?",
    re.ASCII,
)
INFINITE = re.compile(r"[+-]?(?:inf|infinity)", re.IGNORECASE)


class Convention(NamedTuple):
    """How numbers are written.

    Attributes
    ----------
    decimal : str
        "." or ",".
    thousands : str
        What is between groups of three digits: ",", ".", " ", "'" or nothing.
    unit : str
        "%", a currency, or nothing.

    Examples
    --------
    >>> from l1lsmi._columns.numbers import Convention
    >>> Convention(",", ".", "€").read("(1.234,50 €)"), Convention(",", ".", "€").read("$5")
    (-1234.5, None)
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    def read(self, cell: str) -> float | None:
        """The number in a cell; None if it has none by this convention."""
        return self.value_of(Parts.of(cell))

    def value_of(self, parts: Parts | None) -> float | None:
        """The number of the parts of a cell."""
        if parts is None or CORES[self[:2]].fullmatch(parts.core) is None:
            return None
        value = _number(parts.core, self.decimal)
        # Without a sign a number is taken for the same currency, but for no percentage unless it is zero.
        other_unit = parts.unit != self.unit and (parts.unit or (self.unit == "%" and value))
        if other_unit:
            return None
        return -value if parts.negative else value

    @property
    def words(self) -> str:
        """What is special about it, for notes; empty for plain numbers."""
        marks = {",": "commas", ".": "points", " ": "spaces", "'": "apostrophes"}
        said = ["a comma as the decimal sign"] if self.decimal == "," else []
        said += [f"{marks[self.thousands]} between thousands"] if self.thousands else []
        said += ["percent signs" if self.unit == "%" else f"the currency {self.unit}"] if self.unit else []
        return "with " + " and ".join(said) if said else ""


def _core(decimal: str, thousands: str) -> re.Pattern[str]:
    point = re.escape(decimal)
    if not thousands:
        return re.compile(rf"(?:\d+(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?", re.ASCII)
    between = {" ": SPACE, "'": APOSTROPHE}.get(thousands, re.escape(thousands))
    return re.compile(
        rf"[1-9]\d{{0,2}}(?:{between}\d{{3}})+(?:{point}\d+)?|\d+(?:{point}\d+)?|{point}\d+", re.ASCII
    )


#: Conventions in the order in which they are preferred where several fit.
STYLES: tuple[tuple[str, str], ...] = (
    (".", ""),
    (".", ","),
    (",", ""),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
)
CORES: dict[tuple[str, ...], re.Pattern[str]] = {style: _core(*style) for style in STYLES}


class Parts(NamedTuple):
    """A cell that may be a number."""

    negative: bool
    unit: str
    core: str

    @classmethod
    def of(cls, cell: str) -> Parts | None:
        """The parts of a cell; None if it is not a number by any convention."""
        if INFINITE.fullmatch(cell):
            return cls(cell.startswith("-"), "", "9e999")  # read as infinity by every convention
        found = CELL.fullmatch(cell)
        if found is None:
            return None
        signs = [sign for sign in (found["sign"], found["inner"], found["open"]) if sign]
        units = [unit for unit in (found["before"], found["after"]) if unit]
        if len(signs) > 1 or len(units) > 1 or bool(found["open"]) != bool(found["close"]):
            return None
        unit = units[0] if units else ""
        return cls(signs[:1] not in ([], ["+"]), "$" if unit == "US$" else unit, found["core"])


def _number(core: str, decimal: str) -> float:
    digits = re.sub(r"[^\d.,eE+-]", "", core)
    if decimal == ",":
        return float(digits.replace(".", "").replace(",", "."))
    return float(digits.replace(",", ""))


def find_convention(levels: Sequence[str], counts: Values, decimal: str) -> Convention | None:
    """The convention by which nearly all cells are numbers; None where there is none.

    Parameters
    ----------
    levels : sequence of str
        Different text, none of it missing.
    counts : ndarray of int, shape (len(levels),)
        Number of cells of each level.
    decimal : {".", ","}
        What a comma means where all cells are like "1,234": "." is for thousands.
    """
    first = [Parts.of(level) is not None for level in levels[:N_FIRST]]
    if not levels or sum(first) < NEARLY_ALL * len(first) / 2:
        return None
    parts = [Parts.of(level) for level in levels]
    best, most = None, NEARLY_ALL * counts.sum()
    for convention in _candidates(parts, decimal):
        read = np.array([convention.value_of(part) is not None for part in parts])
        count = counts[read].sum()
        if count > most or (best is None and count == most):
            best, most = convention, count
        if read.all():
            break
    return best


def _candidates(parts: Sequence[Parts | None], decimal: str) -> Iterator[Convention]:
    """Conventions of the units that occur, preferred ones first."""
    found = [part for part in parts if part is not None]
    units = sorted({part.unit for part in found})
    styles = STYLES
    if decimal == "," or any(re.fullmatch(r"\d{4,}", part.core) for part in found):
        # A number of more than three digits without a comma: it is no sign between thousands elsewhere.
        styles = ((".", ""), (",", ""), *(style for style in STYLES[1:] if style != (",", "")))
    for unit in units:
        yield from (Convention(*style, unit) for style in styles)


def read_levels(levels: Sequence[str], convention: Convention) -> Values:
    """The numbers of levels, NaN where a level is none."""
    numbers = [convention.read(level) for level in levels]
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)
