"""A table from named arrays, as .npz and .mat files hold them: which are columns, and their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from l1lsmi.files.columns import add_arrays
from l1lsmi.files.found import Columns, add_numbers
from l1lsmi.files.libraries import arrow
from l1lsmi.files.problem import FileProblem, counted, listed, near, shown, where
from l1lsmi.files.table import Values

#: Arrays that name the columns of the matrix.
NAMES = ("feature_names", "columns")


def array_columns(arrays: Mapping[str, Values], source: str, array: str | None) -> Columns:
    """Columns from named arrays.

    A matrix gives as many columns as it has, named by an array ``feature_names`` or ``columns``, else
    ``X[0]``, ``X[1]`` and so on. An array with one value for each row is a column of its own name.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Words are of dtype "U", or of dtype "O" with None where they are missing.
    source : str
        For messages.
    array : str or None
        Which array is the matrix of features; None is ``X``, or those that have as many rows as all others.

    Examples
    --------
    >>> import numpy as np
    >>> array_columns({"X": np.eye(3)[:, :2], "y": np.arange(3)}, "a file", None).names
    ['X[0]', 'X[1]', 'y']
    """
    fields = _fields(arrays)
    matrices = _matrices(fields, source, array)
    n_rows = fields[matrices[0]].shape[0] if matrices else _usual_length(fields, source)
    parts: list[tuple[list[str], Values]] = []
    left_out = []
    for name, values in fields.items():
        if name in matrices:
            parts.append((_names(fields, name, matrices[0]), values))
        elif name in NAMES and matrices:
            continue
        elif (
            values.size == n_rows
            and max(values.shape, default=0) == n_rows
            and values.dtype.kind in "fiubUSOmM"
        ):
            parts.append(([name], values.reshape(n_rows, 1)))
        else:
            left_out.append(name)
    if not parts:
        raise FileProblem(
            f"{where(source)} has neither numbers nor words in {listed(left_out)}: pass a file with X and y, "
            "or with a vector for each column."
        )
    columns = _together(parts)
    if left_out:
        columns.say(
            f"Left out {counted(len(left_out), 'array')} without a value for each of {n_rows} rows: "
            f"{listed(left_out)}."
        )
    return columns


def _fields(arrays: Mapping[str, Values]) -> dict[str, Values]:
    """Arrays of records as one array for each field."""
    plain: dict[str, Values] = {}
    for name, values in arrays.items():
        if values.dtype.names:
            plain |= {field: values[field] for field in values.dtype.names}
        else:
            plain[name] = values
    return plain


def _matrices(arrays: Mapping[str, Values], source: str, array: str | None) -> list[str]:
    """Names of the matrices whose columns are columns of the table, the one with features first."""
    if array is not None:
        if array not in arrays:
            raise FileProblem(
                f"{where(source)} has no array named {shown(array)}: {near(array, list(arrays))}."
            )
        shape = arrays[array].shape
        if len(shape) != 2 or 0 in shape or arrays[array].dtype.kind not in "fiubUSO":
            raise FileProblem(
                f"{where(source)} has an array {shown(array)} of shape {shape} and type "
                f"{arrays[array].dtype}: pass the name of a matrix of numbers, with one row for each sample."
            )
        return [array]
    found = [name for name, values in arrays.items() if values.ndim == 2 and min(values.shape) > 1]
    found = [name for name in found if arrays[name].dtype.kind in "fiub"]
    if "X" in arrays and arrays["X"].ndim == 2 and arrays["X"].dtype.kind in "fiub" and arrays["X"].size:
        found = ["X", *(name for name in found if name != "X" and len(arrays[name]) == len(arrays["X"]))]
    if len({len(arrays[name]) for name in found}) > 1:
        shapes = ", ".join(f"{shown(name)} of shape {arrays[name].shape}" for name in found[:5])
        raise FileProblem(
            f"{where(source)} has matrices of different numbers of rows, {shapes}: pass one as array."
        )
    return found


def _usual_length(arrays: Mapping[str, Values], source: str) -> int:
    lengths = Counter(
        values.size for values in arrays.values() if values.ndim and max(values.shape) == values.size > 1
    )
    if not lengths:
        raise FileProblem(
            f"{where(source)} has no matrix and no columns: pass a file with X and y, or with a vector for "
            "each column."
        )
    return max(lengths, key=lambda length: (lengths[length], length))


def _names(arrays: Mapping[str, Values], name: str, first: str) -> list[str]:
    n_columns = arrays[name].shape[1]
    for key in NAMES:
        if name == first and key in arrays and key != name and arrays[key].size == n_columns:
            return [whole_letters(str(word)) for word in _words(arrays[key].ravel())]
    return [f"{name}[{column}]" for column in range(n_columns)]


def _words(values: Values) -> Values:
    if values.dtype.kind != "S":
        return values
    # Not every program writes UTF-8 into bytes, and a strange letter is better than none of the table.
    return np.array([word.decode(errors="replace") for word in values.tolist()], dtype=object)


def whole_letters(word: str) -> str:
    """A word without halves of letters, which no text can hold; two that belong together are one letter.

    Examples
    --------
    >>> whole_letters("a" + chr(0xD83D) + chr(0xDE00)) == "a" + chr(0x1F600), whole_letters(chr(0xD800))
    (True, '\ufffd')
    """
    if word.isascii():
        return word
    return word.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _together(parts: list[tuple[list[str], Values]]) -> Columns:
    columns = Columns([whole_letters(name) for names, _ in parts for name in names])
    start = 0
    for names, values in parts:
        places = range(start, start + len(names))
        start += len(names)
        if values.dtype.kind in "fiub":
            add_matrix(columns, places, values)
        else:
            add_arrays(columns, places, [_arrow_array(_words(values[:, j])) for j in range(values.shape[1])])
    return columns


def add_matrix(columns: Columns, places: range, values: Values) -> None:
    """Add the columns of a matrix of numbers, of any type."""
    words = ("false", "true") if values.dtype.kind == "b" else ("0", "1")
    # Without this a matrix of float64 would be held twice; infinite values have to be known as they were.
    is_all = values.dtype == np.float64 and not np.isinf(values).any()
    raws = None if is_all else [values[:, j] for j in range(values.shape[1])]
    add_numbers(columns, places, np.array(values.T, dtype=np.float64, order="C"), raws, words=words)


def _arrow_array(values: Values) -> object:
    pa = arrow()
    if values.dtype.kind == "M":
        return pa.array(values.astype("datetime64[us]"))
    if values.dtype.kind == "m":
        return pa.array(values.astype("timedelta64[us]"))
    words = [None if word is None else whole_letters(str(word)) for word in values.tolist()]
    return pa.array(words, pa.large_string())
