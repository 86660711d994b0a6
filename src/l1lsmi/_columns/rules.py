"""How the cells of a column are read: learned from some rows, applied to others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from l1lsmi._columns.cells import Cells, Values, as_text, without_missing_words
from l1lsmi._columns.dates import find_format, read_dates
from l1lsmi._columns.numbers import Convention, find_convention, read_levels
from l1lsmi._columns.use import LEFT_OUT, ROW_NUMBERS
from l1lsmi._messages import counted, quoted

#: Text with more levels is a category only if each occurs twice on average.
MAX_LEVELS = 20
#: Columns with a smaller share of cells with values are left out.
NEARLY_EMPTY = 0.01
#: Fewer values may increase by one by chance.
MIN_ROW_NUMBERS = 10
BOOLEAN_WORDS = {("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t")}
AMBIGUOUS = "with dates whose days and months are ambiguous, read as text"
INFINITE = "with infinite values, which count as missing"


@dataclass(frozen=True)
class Settings:
    """What is decided about all columns: parameters of `l1lsmi.preparation.TablePreparation`."""

    na_values: tuple[str, ...] = ()
    decimal: str = "."
    max_levels: int = MAX_LEVELS
    dates: str = "days"


@dataclass(frozen=True, slots=True)
class Rule:
    """How the cells of a column are read.

    Attributes
    ----------
    kind : str
        As in `ColumnUse`.
    used_as : str
        As in `ColumnUse`.
    levels : tuple of str
        Of categories and yes/no; numbers and dates have none.
    ordered : bool
        Whether the levels have an order.
    numbers : Convention or None
        How numbers are written, where they were text.
    dates : str or None
        How dates are written, where they were text.
    """

    kind: str
    used_as: str
    levels: tuple[str, ...] = ()
    ordered: bool = False
    numbers: Convention | None = None
    dates: str | None = None

    @property
    def used(self) -> bool:
        """Whether the column is a feature."""
        return not self.used_as.startswith(LEFT_OUT)


@dataclass(frozen=True, eq=False, slots=True)
class Reading:
    """Cells that were read.

    Attributes
    ----------
    cells : Cells
        Numbers, dates or levels.
    unread : tuple of (int, str)
        Cells that are missing now, as they are not numbers or dates: rows from 0, and text. The first few.
    n_unread : int
        How many these are.
    unknown : tuple of str
        Levels that are missing now, as they are not those of the rule.
    remarks : tuple of str
        What to say about the column.
    """

    cells: Cells
    unread: tuple[tuple[int, str], ...] = ()
    n_unread: int = 0
    unknown: tuple[str, ...] = ()
    remarks: tuple[str, ...] = field(default=())


class CannotRead(ValueError):
    """Cells are of another kind than those that a rule was learned from."""


def learn(
    cells: Cells, settings: Settings, *, as_category: bool = False, requested: bool = False
) -> tuple[Rule, Reading]:
    """Find out how the cells of a column are to be read, and read them.

    Parameters
    ----------
    cells : Cells
    settings : Settings
    as_category : bool
        Whether to take them for a category whatever they look like.
    requested : bool
        Whether to use row numbers, and columns that are nearly empty.

    Examples
    --------
    >>> from l1lsmi._columns.cells import text_cells
    >>> from l1lsmi._columns.rules import Settings, learn
    >>> rule, reading = learn(text_cells(["1,5", "n/a", "2,25"]), Settings())
    >>> rule.used_as, rule.numbers.words, reading.cells.values.tolist()
    ('number', 'with a comma as the decimal sign', [1.5, nan, 2.25])
    """
    cells = without_missing_words(cells, settings.na_values)
    if cells.kind == "other":
        return Rule("text", f"{LEFT_OUT}of type {cells.type_word}"), Reading(cells)
    numbers, dates, before = None, None, cells
    remarks: list[str] = []
    if as_category or cells.kind == "yes/no":
        cells = replace(as_text(cells), kind="category")
    elif cells.kind == "text":
        cells, numbers, dates = _read_text(cells, settings, remarks)
    words = _boolean_words(cells) if before.kind in ("text", "yes/no") and cells.has_levels else None
    cells, is_infinite = _finite(_with_words(cells, words) if words else _in_order(cells))
    remarks += [INFINITE] if is_infinite else []
    kind, reason = _kind(cells, settings, as_category, requested, bool(words))
    used_as = LEFT_OUT + reason if reason else _used_as(kind, cells)
    rule = Rule(kind, used_as, cells.levels, cells.ordered, numbers, dates)
    unread, n_unread = _unread(before, cells)
    return rule, Reading(cells, unread, n_unread, remarks=tuple(remarks))


def _read_text(
    cells: Cells, settings: Settings, remarks: list[str]
) -> tuple[Cells, Convention | None, str | None]:
    """Text as numbers or dates, if it is, and how these are written."""
    levels, counts = _occurring(cells)
    numbers = find_convention(levels, counts, settings.decimal)
    if numbers is not None:
        remarks += [numbers.words] if numbers.words else []
        return Cells("number", _per_row(cells, read_levels(cells.levels, numbers))), numbers, None
    dates, is_ambiguous = find_format(levels, counts)
    remarks += [AMBIGUOUS] if is_ambiguous else []
    if dates is not None:
        cells = Cells("date", _per_row(cells, read_dates(cells.levels, dates)))
    return cells, None, dates


def apply(rule: Rule, cells: Cells, na_values: tuple[str, ...]) -> Reading:
    """Read cells of new rows by a rule.

    Parameters
    ----------
    rule : Rule
    cells : Cells
    na_values : tuple of str
        As in `Settings`.

    Raises
    ------
    CannotRead
        If there are values, and none can be read.
    """
    before = without_missing_words(cells, na_values)
    if before.kind == "other":
        raise CannotRead(f"values of type {before.type_word}")
    if rule.levels:
        return _apply_levels(rule, before)
    if rule.kind == "date" or rule.dates is not None:
        return _apply_dates(rule, before)
    read = before
    if before.kind == "date":
        raise CannotRead("dates")
    if before.has_levels:
        read = Cells("number", _per_row(before, read_levels(before.levels, rule.numbers or Convention())))
    finite, is_infinite = _finite(replace(read, kind="number"))
    return _checked(before, finite, (INFINITE,) if is_infinite else ())


def _apply_dates(rule: Rule, before: Cells) -> Reading:
    if before.kind in ("number", "yes/no") and not before.missing.all():
        raise CannotRead("numbers")
    if not before.has_levels:
        return Reading(Cells("date", before.values))
    name = rule.dates or find_format(*_occurring(before))[0]
    days = np.full(len(before.levels), np.nan) if name is None else read_dates(before.levels, name)
    return _checked(before, Cells("date", _per_row(before, days)), ())


def _apply_levels(rule: Rule, before: Cells) -> Reading:
    if before.kind == "date":
        raise CannotRead("dates")
    text = as_text(before)
    known = {level: level for level in rule.levels}
    if rule.kind == "yes/no":
        no, yes = rule.levels
        known = {"false": no, "true": yes, "0": no, "1": yes} | {
            level.lower(): level for level in rule.levels
        }
    code_of = {level: code for code, level in enumerate(rule.levels)}
    fold = str.lower if rule.kind == "yes/no" else str
    found = [known.get(fold(level)) for level in text.levels]
    codes = np.array([-1 if level is None else code_of[level] for level in found] + [-1], dtype=np.int64)
    occurring, _ = _occurring(text)
    unknown = tuple(level for level in occurring if known.get(fold(level)) is None)
    return Reading(Cells("category", codes[text.values], rule.levels, rule.ordered), unknown=unknown)


def _checked(before: Cells, after: Cells, remarks: tuple[str, ...]) -> Reading:
    unread, n_unread = _unread(before, after)
    if n_unread and n_unread == np.count_nonzero(~before.missing):
        raise CannotRead(f"text such as {quoted(unread[0][1])}")
    return Reading(after, unread, n_unread, remarks=remarks)


# -- levels -----------------------------------------------------------------------------------


def _occurring(cells: Cells) -> tuple[list[str], Values]:
    """Levels that occur, and how often."""
    counts = np.bincount(cells.values[cells.values >= 0], minlength=len(cells.levels))
    return [level for level, n in zip(cells.levels, counts.tolist(), strict=True) if n], counts[counts > 0]


def _per_row(cells: Cells, of_levels: Values) -> Values:
    """Numbers of levels as numbers of rows, NaN where missing."""
    return np.asarray(np.append(of_levels, np.nan)[cells.values])


def _in_order(cells: Cells) -> Cells:
    """Levels of text in alphabetical order; levels of a category that occur, in the order of the data."""
    if not cells.has_levels or cells.ordered:
        return cells
    occurring, _ = _occurring(cells)
    levels = sorted(occurring) if cells.kind == "text" else occurring
    return _recoded(cells, levels, {level: level for level in levels})


def _recoded(cells: Cells, levels: list[str], new: dict[str, str]) -> Cells:
    code_of = {level: code for code, level in enumerate(levels)}
    codes = [code_of[new[level]] if level in new else -1 for level in cells.levels]
    return Cells(
        "category", np.array([*codes, -1], dtype=np.int64)[cells.values], tuple(levels), cells.ordered
    )


def _boolean_words(cells: Cells) -> tuple[str, str] | None:
    """How no and yes are spelled; None where the levels are others."""
    if len(cells.levels) > 8:  # more than the ways to capitalise two short words
        return None
    occurring, _ = _occurring(cells)
    pair = tuple(sorted({level.lower() for level in occurring}))
    if pair not in BOOLEAN_WORDS:
        return None
    # Programs capitalise true and false differently, and the same table should have the same levels.
    if pair == ("false", "true"):
        return "false", "true"
    no, yes = (next(level for level in occurring if level.lower() == word) for word in pair)
    return no, yes


def _with_words(cells: Cells, words: tuple[str, str]) -> Cells:
    spelled = {word.lower(): word for word in words}
    return _recoded(cells, list(words), {level: spelled[level.lower()] for level in _occurring(cells)[0]})


# -- kinds ------------------------------------------------------------------------------------


def _finite(cells: Cells) -> tuple[Cells, bool]:
    """Cells without infinite values, and whether there were any."""
    if cells.has_levels or not (infinite := np.isinf(cells.values)).any():
        return cells, False
    return replace(cells, values=np.where(infinite, np.nan, cells.values)), True


def _kind(
    cells: Cells, settings: Settings, as_category: bool, requested: bool, is_boolean: bool
) -> tuple[str, str]:
    """The kind of a column, and why it is left out; empty where it is not."""
    present = cells.values[~cells.missing]
    if not present.size:
        return "empty", "empty"
    # One value tells of most columns that they are not all equal, or not all 0 and 1.
    if present[-1] == present[0] and (present == present[0]).all():
        return "constant", "constant"
    kind, reason = "number", ""
    if cells.has_levels:
        kind, reason = _kind_of_levels(cells, present, settings, as_category, is_boolean)
    elif cells.kind == "date":
        kind, reason = "date", "a date" if settings.dates == "drop" else ""
    elif numbers_rows(cells.values):
        reason = "" if requested else ROW_NUMBERS
    elif present[0] in (0, 1) and ((present == 0) | (present == 1)).all():
        kind = "yes/no"
    if present.size < NEARLY_EMPTY * len(cells.values) and not (requested or as_category):
        reason = reason or "nearly empty"
    return kind, reason


def _kind_of_levels(
    cells: Cells, present: Values, settings: Settings, as_category: bool, is_boolean: bool
) -> tuple[str, str]:
    n_levels = np.unique(present).size
    kind = "ordered category" if cells.ordered else "yes/no" if is_boolean else "category"
    if as_category:
        return kind, ""
    # Levels that are all different identify the rows.
    if n_levels == present.size > 2:
        return "text", "every value is different"
    if n_levels > settings.max_levels and 2 * n_levels > present.size:
        return "text", "almost every value is different"
    return kind, ""


def numbers_rows(values: Values) -> bool:
    """Whether values are start, start + 1, ...: they reveal the target where rows are sorted by it."""
    if len(values) < MIN_ROW_NUMBERS or not float(values[0]).is_integer():
        return False
    return bool((np.diff(values) == 1).all())


def _used_as(kind: str, cells: Cells) -> str:
    if kind == "date":
        return "number of days"
    return f"{kind} with {counted(len(cells.levels), 'level')}" if kind.endswith("category") else kind


#: Cells that are named in a note.
MAX_NAMED = 3


def _unread(before: Cells, after: Cells) -> tuple[tuple[tuple[int, str], ...], int]:
    """Cells that had text and have no value now."""
    if not before.has_levels:
        return (), 0
    rows = np.flatnonzero(after.missing & ~before.missing)
    if after.kind == "number":
        # Infinite numbers were read, and have a remark of their own.
        infinite = [level.strip("+-").lower().startswith("inf") for level in before.levels]
        rows = rows[~np.array([*infinite, False])[before.values[rows]]] if any(infinite) else rows
    first = rows[:MAX_NAMED].tolist()
    return tuple((row, before.levels[before.values[row]]) for row in first), rows.size
