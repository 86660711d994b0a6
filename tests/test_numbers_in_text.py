"""Numbers that are written as text: by one convention, and read back exactly."""

import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi._columns.cells import MISSING, text_cells
from l1lsmi._columns.numbers import CODES, STYLES, SYMBOLS, Convention, find_convention
from l1lsmi._columns.rules import Settings, learn
from l1lsmi._columns.saved import restored_rule, saved_rule
from l1lsmi.files import ColumnUse
from l1lsmi.preparation import TablePreparation
from tests.test_preparation import N, frame, read, used


@pytest.mark.parametrize(
    ("cells", "numbers", "words"),
    [
        ("12,3 | 0,5 | 7", [12.3, 0.5, 7], "with a comma as the decimal sign"),
        ("1,234.5 | 12 | 1,000,000", [1234.5, 12, 1e6], "with commas between thousands"),
        ("1.234,5 | 12 | 3,5", [1234.5, 12, 3.5], "a comma as the decimal sign and points between thousands"),
        ("1.234.567 | 12 | 1.000", [1234567, 12, 1000], "points between thousands"),
        ("1 234 | 12 | 999", [1234, 12, 999], "with spaces between thousands"),
        ("1\u202f234,5 | 12 | 9,25", [1234.5, 12, 9.25], "decimal sign and spaces between thousands"),
        ("1'234.5 | 12 | 9", [1234.5, 12, 9], "with apostrophes between thousands"),
        ("12.3 % | 4% | 0", [12.3, 4, 0], "with percent signs"),
        ("€1,234 | €5 | -€7.50", [1234, 5, -7.5], "commas between thousands and the currency €"),
        ("$5 | US$6 | ($7)", [5, 6, -7], "with the currency $"),
        ("5 USD | 6 USD | 7", [5, 6, 7], "with the currency USD"),
        ("(1,234) | 5 | \N{MINUS SIGN}6", [-1234, 5, -6], "with commas between thousands"),
        ("1e3 | +.5 | -2.", [1000, 0.5, -2], ""),
        ("1,234 | 5,678 | 7", [1234, 5678, 7], "with commas between thousands"),
        ("1,234 | 5678 | 7", [1.234, 5678, 7], "with a comma as the decimal sign"),
    ],
)
def test_numbers_in_text(cells, numbers, words):
    rule, reading = learn(text_cells(cells.split(" | ")), Settings())
    assert reading.cells.values.tolist() == numbers and rule.used_as == "number"
    assert words in rule.numbers.words and bool(words) == bool(rule.numbers.words)


@pytest.mark.parametrize(
    "cells",
    [
        "12 % | 0.5 | 7",  # a percentage, and perhaps a share
        "$5 | €6 | 7",
        "1,23,4 | 5 | 6",
        "1,5 | 2.5 | 3",
        "1.2.3 | 1.2.4 | 1.3.0",
        "10-20 | 20-30 | 10-20",
        "12 kg | 13 kg | 12 kg",
        "A12 | B13 | A12",
        "(5 | 6) | 7",
        "+-5 | 6 | 7",
    ],
)
def test_text_that_is_no_number_by_one_convention(cells):
    rule, _ = learn(text_cells(cells.split(" | ")), Settings())
    assert rule.numbers is None and rule.kind in ("category", "text")


def test_a_comma_that_can_be_both_is_decided_by_a_parameter():
    column = ["1,234", "5,678", "7"] * 3
    assert read(column) == [1234, 5678, 7] * 3
    assert read(column, decimal=",") == [1.234, 5.678, 7] * 3


def test_nearly_numbers_become_numbers_and_cells_that_are_none_are_named():
    column = [f"{i * i % 31},5" for i in range(N)]
    column[3], column[7] = "n/a", "about 5"
    preparation = TablePreparation().fit(frame(a=column, b=np.arange(N) ** 2))
    assert preparation.columns_[0] == ColumnUse("a", "number", 2, "number")
    assert preparation.notes_ == [
        "1 column with a comma as the decimal sign: 'a'.",
        "Column 'a' has 1 cell that is not a number and counts as missing (rows are counted from 0): 'about "
        "5' in row 7.",
        "2 missing values of 1 column stay missing: nothing is imputed.",
    ]
    # Of 40 cells, three are more than 5 %.
    column[8] = column[9] = "about 6"
    assert used(column) == "category with 18 levels"


def test_many_cells_that_are_no_numbers_are_counted():
    column = [str(i * i % 97) for i in range(200)]
    column[10:18] = [f"x{i}" for i in range(8)]
    note = TablePreparation().fit(frame(a=column)).notes_[0]
    assert (
        note.endswith("'x0' in row 10, 'x1' in row 11, 'x2' in row 12 and 5 more.") and "has 8 cells" in note
    )


def formatted(number, convention):
    """A number as text, written by other means than it is read."""
    whole, _, fraction = f"{abs(number)!r}".partition(".")
    if convention.thousands:
        groups, whole = [], whole
        while len(whole) > 3:
            groups.insert(0, whole[-3:])
            whole = whole[:-3]
        whole = convention.thousands.join([whole, *groups])
    core = whole + (convention.decimal + fraction if fraction else "")
    core = f"{core} %" if convention.unit == "%" else f"{convention.unit}{core}"
    return f"-{core}" if number < 0 else core


def plain(numbers):
    return [number for number in numbers if "e" not in repr(number)]


CONVENTIONS = st.builds(
    lambda style, unit: Convention(*style, unit),
    st.sampled_from(STYLES),
    st.sampled_from(["", "%", *SYMBOLS]),
)
NUMBERS = st.lists(
    st.floats(-1e15, 1e15, allow_nan=False, allow_infinity=False), min_size=2, max_size=12, unique=True
)


@settings(max_examples=300, deadline=None)
@given(NUMBERS, CONVENTIONS)
def test_numbers_that_are_written_by_a_convention_are_read_exactly(numbers, convention):
    numbers = plain(numbers)
    cells = [formatted(number, convention) for number in numbers]
    assert [convention.read(cell) for cell in cells] == numbers


@settings(max_examples=200, deadline=None)
@given(NUMBERS, CONVENTIONS)
def test_the_convention_is_found(numbers, convention):
    # Beside a number that only this convention can be for.
    numbers = [1234567.25, 8901234.5, *plain(numbers)]
    column = [formatted(number, convention) for number in numbers]
    assert find_convention(column, np.ones(len(column), dtype=int), ".") == convention
    assert read(column) == numbers


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=8), min_size=2, max_size=12))
def test_any_text_is_read_without_an_error(words):
    rule, reading = learn(text_cells(words), Settings())
    assert len(reading.cells.values) == len(words)
    assert restored_rule(saved_rule(rule)) == rule
    stripped = {word.strip() for word in words} - MISSING
    if rule.levels and rule.kind == "category":
        assert {*rule.levels} <= stripped


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*string.digits, *".,-+%()€ 'eE", *CODES[:2]]), max_size=10).map("".join))
def test_a_cell_is_read_or_not_by_every_convention(cell):
    for style in STYLES:
        for unit in ("", "%", "€"):
            value = Convention(*style, unit).read(cell.strip())
            assert value is None or isinstance(value, float)
