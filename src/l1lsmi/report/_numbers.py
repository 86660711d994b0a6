"""Numbers of a report: rounded for JSON, and formatted with three significant digits."""

from __future__ import annotations

import math
from datetime import date, timedelta
from typing import Any

import numpy as np

from l1lsmi.explain._values import DAYS_SINCE

#: Significant digits of numbers in the JSON data: more than a plot can show.
DIGITS = 6
NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"

#: Whole numbers below this are written without separators, as years are.
MANY_DIGITS = 10_000


def number(value: Any, digits: int = DIGITS) -> float | None:
    """A number rounded for JSON; None for missing and non-finite values.

    Examples
    --------
    >>> from l1lsmi.report._numbers import number
    >>> number(1 / 3), number(float("nan")), number(None)
    (0.333333, None, None)
    """
    if value is None:
        return None
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def numbers(values: Any, digits: int = DIGITS) -> list[Any]:
    """An array of any shape as nested lists of rounded numbers."""
    if np.ndim(values) > 1:
        return [numbers(row, digits) for row in values]
    return [number(value, digits) for value in np.asarray(values).tolist()]


def sig(value: float | None) -> str:
    r"""A number formatted with three significant digits, as by `sig` of `base.js`.

    Examples
    --------
    >>> from l1lsmi.report._numbers import sig
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
    """A share formatted in percent.

    Examples
    --------
    >>> from l1lsmi.report._numbers import percent
    >>> percent(0.0413), percent(0)
    ('4.13\u202f%', '0\u202f%')
    """
    return "n/a" if value is None else f"{sig(100 * value)}{NARROW_SPACE}%"


def tenths(value: float | None) -> str:
    r"""A share in percent with one decimal, as the command line prints contributions.

    Examples
    --------
    >>> from l1lsmi.report._numbers import tenths
    >>> tenths(0.6571), tenths(-0.00004)
    ('65.7\u202f%', '0.0\u202f%')
    """
    if value is None:
        return "n/a"
    return f"{round(100 * value, 1) + 0.0:.1f}{NARROW_SPACE}%".replace("-", MINUS)


def unbroken(sentence: str) -> str:
    r"""A sentence in which no line ends between a number and its percent sign, its error, or a letter p.

    Examples
    --------
    >>> from l1lsmi.report._numbers import unbroken
    >>> unbroken("8.0 \u00b1 0.9 % (p = 0.01)")
    '8.0\xa0±\xa00.9\u202f% (p\xa0=\xa00.01)'
    """
    for text in ("p = ", "p < ", " \N{PLUS-MINUS SIGN} "):
        sentence = sentence.replace(text, text.replace(" ", "\N{NO-BREAK SPACE}"))
    return sentence.replace(" %", f"{NARROW_SPACE}%")


def in_unit(value: float | None, unit: str | None = None) -> str:
    """A value of a column, as by `inUnit` of `base.js`: a date, a whole number such as a year, or `sig`.

    Examples
    --------
    >>> from l1lsmi.report._numbers import in_unit
    >>> in_unit(15600.4, "days since 1970-01-01"), in_unit(15600.4), in_unit(1984.0)
    ('2012-09-17', '15,600', '1984')
    """
    if unit == DAYS_SINCE and value is not None and math.isfinite(value):
        try:
            return (date(1970, 1, 1) + timedelta(days=math.floor(value))).isoformat()
        except OverflowError:  # before the year 1, or after 9999
            pass
    if value is not None and 1_000 <= abs(value) < MANY_DIGITS and float(value).is_integer():
        return f"{value:.0f}".replace("-", "\N{MINUS SIGN}")
    return sig(value)
