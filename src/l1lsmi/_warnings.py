"""Sentences that a selector has to say about its data, as `warnings_`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from l1lsmi._messages import quoted
from l1lsmi._numerics.leaks import Leaks, find_leaks
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable

#: Columns of a list, and groups of columns, that are named; the others are counted.
MAX_COLUMNS = 4
MAX_GROUPS = 3


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
    return [Sentence(parts, names) for parts in _about_leaks(find_leaks(table, target), target)]


def _about_leaks(leaks: Leaks, target: Target) -> Iterable[list[str | int]]:
    for kind in ("copy", "function", "near"):
        some = [leak for leak in leaks.of_target if leak.kind == kind]
        if some:
            what = _of_target(kind, min(leak.value for leak in some), target.is_classification, len(some) > 1)
            yield [*_columns([leak.column for leak in some]), what]
    for sign, verb in ((1, "increase"), (-1, "decrease")):
        columns = [column for column, of in leaks.numberings if of == sign]
        if columns:
            one = len(columns) == 1
            yield [
                *_columns(columns),
                f" {verb}{'s' if one else ''} from row to row, and the target depends on the order of the rows: "
                f"leave {'it' if one else 'them'} out if {'it' if one else 'they'} only number"
                f"{'s' if one else ''} the rows.",
            ]
    yield from _about_copies(leaks.copies, "are copies of each other")
    yield from _about_copies(leaks.functions, "are monotone functions of each other")
    yield from _about_copies(leaks.near, "are copies of each other but for noise (correlations of about 0.999)")


def _of_target(kind: str, value: float, is_classification: bool, several: bool) -> str:
    advice = "leave them out unless they are known before the target is." if several else (
        "leave it out unless it is known before the target is."
    )
    verb = "are" if several else "is"
    least = "at least " if several else ""
    if is_classification:
        what = {
            "function": f"{verb} constant within each class",
            "near": f"{verb} nearly constant within each class ({least}{100 * value:.1f} % of the variance is "
            "between the classes)",
        }[kind]
    else:
        copies = "copies" if several else "a copy"
        functions = "monotone functions" if several else "a monotone function"
        what = {
            "copy": f"{verb} {copies} of the target",
            "function": f"{verb} {functions} of the target",
            "near": f"{verb} nearly {copies} or {functions} of the target (correlation {least}{value:.3f})",
        }[kind]
    give = "give" if several else "gives"
    return f" {give} away the target, as {'they' if several else 'it'} {what}: {advice}"


def _columns(columns: Sequence[int], noun: bool = True) -> list[str | int]:
    """The names of the first columns, and the number of the others."""
    shown, more = list(columns[:MAX_COLUMNS]), len(columns) - MAX_COLUMNS
    words: list[str | int] = [("Column " if len(columns) == 1 else "Columns ") if noun else ""]
    for i, column in enumerate(shown):
        if i:
            words.append(" and " if i == len(shown) - 1 and more <= 0 else ", ")
        words.append(column)
    return [*words, f" and {more:,} more"] if more > 0 else words


def _about_copies(groups: Sequence[Sequence[int]], what: str) -> Iterable[list[str | int]]:
    if not groups:
        return
    words: list[str | int] = ["Columns "]
    more = len(groups) - MAX_GROUPS
    for i, group in enumerate(groups[:MAX_GROUPS]):
        words += ["; " if i else "", *_columns(group, noun=False)]
    if more > 0:
        words.append(f"; and {more:,} more group{'s' if more > 1 else ''} of columns")
    them = "them" if len(groups) == 1 else "each group"
    yield [*words, f" {what}: one of {them} is enough."]
