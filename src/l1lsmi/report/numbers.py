"""Numbers on their way to the page: rounded for JSON, and as words with three significant digits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Digits that numbers of the report keep: more than a picture can show, few enough to stay small.
DIGITS = 6
#: Narrow, and never at the end of a line.
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"


def number(value: Any, digits: int = DIGITS) -> float | None:
    """A number that JSON can hold; None for what is missing or not finite.

    Examples
    --------
    >>> from l1lsmi.report.numbers import number
    >>> number(1 / 3), number(float("nan")), number(None)
    (0.333333, None, None)
    """
    if value is None:
        return None
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def numbers(values: Any, digits: int = DIGITS) -> list[Any]:
    """Numbers of an array of any shape, as nested lists that JSON can hold."""
    if np.ndim(values) > 1:
        return [numbers(row, digits) for row in values]
    return [number(value, digits) for value in np.asarray(values).tolist()]


def sig(value: float | None) -> str:
    r"""Three significant digits as words; `base.js` says the same.

    Examples
    --------
    >>> from l1lsmi.report.numbers import sig
    >>> sig(0.5), sig(12.34), sig(999.9), sig(12345), sig(2.5e7), sig(None)
    ('0.500', '12.3', '1,000', '12,300', '2.50e7', 'n/a')
    >>> sig(-2.5) == "\N{MINUS SIGN}2.50"
    True
    """
    if value is None or not math.isfinite(value):
        return "n/a"
    if value == 0:
        return "0"
    rounded = float(f"{value:.3g}")
    size, sign = abs(rounded), MINUS if rounded < 0 else ""
    if size >= 1e6 or size < 1e-4:
        mantissa, exponent = f"{size:.2e}".split("e")
        return f"{sign}{mantissa}e{int(exponent)}".replace("-", MINUS)
    return sign + (f"{size:,.0f}" if size >= 1000 else f"{size:#.3g}".removesuffix("."))


def percent(value: float | None) -> str:
    """A share in percent.

    Examples
    --------
    >>> from l1lsmi.report.numbers import percent
    >>> percent(0.0413), percent(0)
    ('4.13\u202f%', '0\u202f%')
    """
    return "n/a" if value is None else f"{sig(100 * value)}{NARROW_SPACE}%"


def thousands(value: int) -> str:
    """A count, its digits in groups of three."""
    return f"{value:,}"
