"""Names of columns: of tables with a row of names, where names may be missing or be no names at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from l1lsmi.files.columns import arrow_columns
from l1lsmi.files.found import Columns
from l1lsmi.files.libraries import arrow, compute
from l1lsmi.files.problem import FileProblem, counted, where
from l1lsmi.files.words import MISSING, Comma

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
LOOKS_LIKE_DATA = (
    "The first row looks like data, as it holds only numbers, but is taken for names of columns."
)


def named_columns(names: Sequence[str], arrays: Sequence[Any], source: str, comma: Comma = None) -> Columns:
    """Columns below a row of names.

    A first column without a name holds names of rows, as R and pandas write them. Other columns without a
    name must be empty. A row of names that are all numbers may be data, or wavelengths: it is taken for
    names, with a note.

    Parameters
    ----------
    names : sequence of str
    arrays : sequence of arrays of Arrow
        As many as names, or one more: then the names of the rows have no name, or the last column is empty.
    source : str
        For messages.
    comma : "decimal", "thousands" or None
        What a comma inside of numbers means.
    """
    names = list(names)
    if len(arrays) > len(names):
        names = [*names, ""] if _is_empty(arrays[-1]) else ["", *names]
    nameless = [place for place, name in enumerate(names) if not name.strip()]
    empty = {place for place in nameless if _is_empty(arrays[place])}
    stray = [str(place + 1) for place in nameless if place and place not in empty]
    if stray:
        raise FileProblem(
            f"{where(source)} has {counted(len(stray), 'column')} with values but without a name, first "
            f"column {stray[0]}: fill the first row."
        )
    kept = [place for place in range(len(names)) if place not in empty]
    if not kept:
        raise FileProblem(f"{where(source)} has neither names of columns nor values.")
    columns = arrow_columns([names[place] for place in kept], [arrays[place] for place in kept], comma)
    if empty:
        columns.say(f"Left out {counted(len(empty), 'column')} with neither a name nor values.")
    if 0 in nameless and 0 in kept:
        columns.set_aside(0)
        columns.say("The first column has no name: it is taken for names of rows, and is no feature.")
    if all(NUMBER.fullmatch(name.strip()) for name in columns.names):
        columns.say(LOOKS_LIKE_DATA)
    return columns


def _is_empty(array: Any) -> bool:
    pa, pc = arrow(), compute()
    if pa.types.is_null(array.type):
        return True
    if not pa.types.is_large_string(array.type):
        return bool(array.null_count == len(array))
    words = pc.utf8_trim_whitespace(array)
    found = pc.is_in(words, value_set=pa.array(MISSING, pa.large_string()))
    return bool(pc.all(found).as_py())
