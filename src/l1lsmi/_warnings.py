"""Sentences that a selector has to say about its data, as `warnings_`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Self, TypeAlias

import numpy as np

from l1lsmi._messages import quoted
from l1lsmi._numerics.leaks import Leaks, find_leaks
from l1lsmi._numerics.leaks.of_target import TargetLeak
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable

#: Words of a sentence, and numbers of columns.
Parts: TypeAlias = list[str | int]
#: Columns of a list, and groups of columns, that are named; the others are counted.
MAX_COLUMNS = 4
MAX_GROUPS = 3
#: Share of missing values from which on a column is named.
NEARLY_MISSING = 0.95


class DataWarning(UserWarning):
    """All `warnings_` of a fit at once."""


class Sentence(str):
    """A sentence in which columns can be given other names.

    Parameters
    ----------
    parts : iterable of str or int
        Words, and numbers of columns.
    names : sequence of str or None
        Names of all columns; None is x0, x1, ...

    Examples
    --------
    >>> from l1lsmi._warnings import Sentence
    >>> sentence = Sentence(["Column ", 1, " is a copy of the target."])
    >>> print(sentence)
    Column 'x1' is a copy of the target.
    >>> print(sentence.with_names(["age", "income"]))
    Column 'income' is a copy of the target.
    """

    parts: tuple[str | int, ...]

    def __new__(cls, parts: Iterable[str | int], names: Sequence[str] | None = None) -> Self:
        parts = tuple(parts)
        text = (
            part if isinstance(part, str) else quoted(f"x{part}" if names is None else names[part])
            for part in parts
        )
        self = super().__new__(cls, "".join(text))
        self.parts = parts
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (str(self), self.parts)

    def with_names(self, names: Sequence[str]) -> Sentence:
        """The same sentence with other names."""
        return Sentence(self.parts, names)


def _restored(text: str, parts: tuple[str | int, ...]) -> Sentence:
    sentence = str.__new__(Sentence, text)
    sentence.parts = parts
    return sentence


def renamed(sentences: Iterable[str], names: Sequence[str]) -> list[str]:
    """Sentences with other names of columns; those without columns stay as they are."""
    return [each.with_names(names) if isinstance(each, Sentence) else each for each in sentences]


# Not a parameter: it would have to be handed through the ``fit`` of every selector.
_in_part: ContextVar[bool] = ContextVar("in_part", default=False)


@contextmanager
def of_part_of_rows() -> Iterator[None]:
    """Nothing is said about the data of fits to some of the rows, nor looked for.

    Rows of a part are in no order, and what is to be said is said of all rows.
    """
    token = _in_part.set(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            yield
    finally:
        _in_part.reset(token)


def data_warnings(table: RowTable, target: Target, names: Sequence[str] | None) -> list[str]:
    """What is to be said about the columns of a table before its features are used.

    Parameters
    ----------
    table : RowTable
    target : Target
    names : sequence of str or None

    Returns
    -------
    list of str
        One sentence each.
    """
    if _in_part.get():
        return []
    said = [*_about_missing(table), *_about_leaks(find_leaks(table, target), target)]
    return [Sentence(parts, names) for parts in said]


def _about_missing(table: RowTable) -> Iterator[Parts]:
    """Columns without values, or with few."""
    if table.kinds is None:
        return
    share = table.kinds.missing_share
    gone = np.flatnonzero(share >= 1)
    if gone.size:
        have = "have" if gone.size > 1 else "has"
        yield [
            *column_parts(gone.tolist()),
            f" {have} no values: leave {'them' if gone.size > 1 else 'it'} out.",
        ]
    for j in np.flatnonzero((share >= NEARLY_MISSING) & (share < 1))[:MAX_COLUMNS].tolist():
        n_values = round((1 - share[j]) * table.n_rows)
        yield [
            "Column ",
            j,
            f" has values in {n_values:,} of {table.n_rows:,} rows: too few to judge it.",
        ]


def _about_leaks(leaks: Leaks, target: Target) -> Iterator[Parts]:
    for number, one in enumerate(target.each()):
        name = f"target {quoted(target.parts[number].name)}" if target.parts else "the target"
        yield from _about_target([leak for leak in leaks.of_target if leak.target == number], one, name)
    for sign, verb in ((1, "increase"), (-1, "decrease")):
        columns = [column for column, direction in leaks.numberings if direction == sign]
        if columns:
            of_rows = "from row to row, and the target depends on the order of the rows"
            yield [
                *column_parts(columns),
                f" {verb} {of_rows}: leave them out if they only number the rows."
                if len(columns) > 1
                else f" {verb}s {of_rows}: leave it out if it only numbers the rows.",
            ]
    yield from _about_copies(leaks.copies, "are copies of each other")
    yield from _about_copies(leaks.functions, "are monotone functions of each other")
    yield from _about_copies(
        leaks.near, "are copies of each other except for noise (correlations of about 0.999)"
    )


def _about_target(leaks: Sequence[TargetLeak], target: Target, name: str) -> Iterator[Parts]:
    """Columns that give away one target, which is called so."""
    for kind in ("copy", "function", "near", "ranges"):
        some = [leak for leak in leaks if leak.kind == kind]
        if some:
            least, several = min(leak.value for leak in some), len(some) > 1
            words = _of_classes(kind, least, several)
            if not target.is_classification:
                words = _of_values(kind, least, several).replace("the target", name)
            known = f"known before {name} is."
            yield [
                *column_parts([leak.column for leak in some]),
                f" give away {name}, as {words}: leave them out unless they are {known}"
                if several
                else f" gives away {name}, as {words}: leave it out unless it is {known}",
            ]


def _of_classes(kind: str, value: float, several: bool) -> str:
    """Why columns give away classes."""
    if kind == "ranges":
        return f"{'each of them' if several else 'it'} tells the classes apart without error"
    they = "they are" if several else "it is"
    if kind == "function":
        return f"{they} constant within each class"
    least = "at least " if several else ""
    share = f"{least}{_below(100 * value, 1)} % of the variance is between the classes"
    return f"{they} nearly constant within each class ({share})"


def _of_values(kind: str, value: float, several: bool) -> str:
    """Why columns give away a numeric target."""
    copy, function = ("copies", "monotone functions") if several else ("a copy", "a monotone function")
    least = "at least " if several else ""
    they = "they are" if several else "it is"
    return (
        f"{they} "
        + {
            "copy": f"{copy} of the target",
            "function": f"{function} of the target",
            "near": f"nearly {copy} or {function} of the target (correlation {least}{_below(value, 3)})",
        }[kind]
    )


def _below(value: float, digits: int) -> str:
    """A number that is not rounded up: what is nearly 1 is not 1."""
    return f"{math.floor(value * 10**digits) / 10**digits:.{digits}f}"


def column_parts(columns: Sequence[int], noun: bool = True) -> Parts:
    """The names of the first columns, and the number of the others."""
    shown, more = list(columns[:MAX_COLUMNS]), len(columns) - MAX_COLUMNS
    words: Parts = [("Column " if len(columns) == 1 else "Columns ") if noun else ""]
    for i, column in enumerate(shown):
        if i:
            words.append(" and " if i == len(shown) - 1 and more <= 0 else ", ")
        words.append(column)
    return [*words, f" and {more:,} more"] if more > 0 else words


def _about_copies(groups: Sequence[Sequence[int]], what: str) -> Iterator[Parts]:
    if not groups:
        return
    words: Parts = ["Columns "]
    more = len(groups) - MAX_GROUPS
    for i, group in enumerate(groups[:MAX_GROUPS]):
        words += ["; " if i else "", *column_parts(group, noun=False)]
    if more > 0:
        words.append(f"; and {more:,} more group{'s' if more > 1 else ''} of columns")
    them = "them" if len(groups) == 1 else "each group"
    yield [*words, f" {what}: one of {them} is enough."]
