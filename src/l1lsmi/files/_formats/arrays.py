"""A table of named arrays, as in .npz and .mat files: which arrays are columns, and their names."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from l1lsmi._messages import counted, listed, printable, quoted, suggestion
from l1lsmi.files._arrow_arrays import add_arrays
from l1lsmi.files._table_builder import TableBuilder, add_numbers
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import Values

#: Kinds of dtypes of numbers, and of all columns.
NUMERIC, ANY = "fiub", "fiubUSOmM"
#: Arrays that name the columns of the matrix.
NAMES = ("feature_names", "columns")


def table_of_named_arrays(arrays: Mapping[str, Values], source: str, array: str | None) -> TableBuilder:
    """A table of named arrays.

    A matrix gives as many columns as it has, named by an array ``feature_names`` or ``columns``, else
    ``X[0]``, ``X[1]`` and so on. An array with one value for each row is a column of its own name.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Strings are of dtype "U", or of dtype "O" with None where they are missing.
    source : str
        For messages.
    array : str or None
        Name of the matrix of features. None uses ``X`` and all matrices with as many rows; without ``X``, all
        matrices, which must have the same number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> table_of_named_arrays({"X": np.eye(3)[:, :2], "y": np.arange(3)}, "a file", None).names
    ['X[0]', 'X[1]', 'y']
    """
    fields = _fields(arrays)
    for name, values in fields.items():
        _check_code_points(name, values, source)
    matrices = _matrices(fields, source, array)
    n_rows = len(fields[matrices[0]]) if matrices else _most_common_length(fields, source)
    parts: list[tuple[list[str], Values]] = []
    left_out = []
    for name, values in fields.items():
        if name in matrices:
            parts.append((_column_names(fields, name, matrices[0]), values))
        elif name in NAMES and matrices:
            continue
        elif _is_vector(values) and values.size == n_rows and values.dtype.kind in ANY:
            parts.append(([name], values.reshape(n_rows, 1)))
        else:
            left_out.append(name)
    if not parts:
        raise FileProblem(
            f"{printable(source)} has neither numbers nor text in {listed(left_out)}: pass a file with X and "
            "y, or with a vector for each column."
        )
    table = _join(parts)
    if left_out:
        table.add_note(
            f"Left out {counted(len(left_out), 'array')} without a value for each of {n_rows} rows: "
            f"{listed(left_out)}."
        )
    return table


def _is_vector(values: Values) -> bool:
    """Whether at most one axis is longer than 1."""
    return max(values.shape, default=0) == values.size


def _fields(arrays: Mapping[str, Values]) -> dict[str, Values]:
    """Structured arrays as one array for each field."""
    plain: dict[str, Values] = {}
    for name, values in arrays.items():
        if values.dtype.names:
            plain |= {field: values[field] for field in values.dtype.names}
        else:
            plain[name] = values
    return plain


def _check_code_points(name: str, values: Values, source: str) -> None:
    """Refuse strings that Python cannot hold: an array has 32 bits for each character, whatever they say."""
    if values.dtype.kind != "U" or not values.nbytes:
        return
    bits = np.dtype(np.uint32).newbyteorder(values.dtype.byteorder)
    if (np.ascontiguousarray(values).view(bits) > sys.maxunicode).any():
        raise FileProblem(
            f"{printable(source)} is damaged: the array {quoted(valid_unicode(name))} has text with "
            "invalid characters; save the file again."
        )


def _matrices(arrays: Mapping[str, Values], source: str, array: str | None) -> list[str]:
    """Names of the matrices whose columns are columns of the table, the one with features first."""
    if array is not None:
        if array not in arrays:
            raise FileProblem(
                f"{printable(source)} has no array named {quoted(array)}: {suggestion(array, list(arrays))}"
            )
        shape = arrays[array].shape
        if len(shape) != 2 or 0 in shape or arrays[array].dtype.kind not in NUMERIC + "USO":
            raise FileProblem(
                f"{printable(source)} has an array {quoted(array)} of shape {shape} and type "
                f"{arrays[array].dtype}: pass the name of a matrix of numbers, with one row for each sample."
            )
        return [array]
    numeric = [name for name, values in arrays.items() if values.ndim == 2 and values.dtype.kind in NUMERIC]
    found = [name for name in numeric if min(arrays[name].shape) > 1]
    if "X" in numeric and arrays["X"].size:
        found = ["X", *(name for name in found if name != "X" and len(arrays[name]) == len(arrays["X"]))]
    if len({len(arrays[name]) for name in found}) > 1:
        shapes = ", ".join(f"{quoted(name)} of shape {arrays[name].shape}" for name in found[:5])
        raise FileProblem(
            f"{printable(source)} has matrices with different numbers of rows, {shapes}: pass the name "
            "of one as array."
        )
    return found


def _most_common_length(arrays: Mapping[str, Values], source: str) -> int:
    lengths = Counter(values.size for values in arrays.values() if _is_vector(values) and values.size > 1)
    if not lengths:
        raise FileProblem(
            f"{printable(source)} has no matrix and no columns: pass a file with X and y, or with a vector "
            "for each column."
        )
    return max(lengths, key=lambda length: (lengths[length], length))


def _column_names(arrays: Mapping[str, Values], name: str, first: str) -> list[str]:
    n_columns = arrays[name].shape[1]
    for key in NAMES:
        if name == first and key in arrays and key != name and arrays[key].size == n_columns:
            return [valid_unicode(str(word)) for word in _decoded(arrays[key].ravel())]
    return [f"{name}[{column}]" for column in range(n_columns)]


def _decoded(values: Values) -> Values:
    if values.dtype.kind != "S":
        return values
    # Not every program writes UTF-8, and a replaced character is better than no table.
    return np.array([word.decode(errors="replace") for word in values.tolist()], dtype=object)


def valid_unicode(text: str) -> str:
    """Text with surrogate pairs joined and lone surrogates replaced, as UTF-8 cannot encode them.

    Examples
    --------
    >>> valid_unicode("a" + chr(0xD83D) + chr(0xDE00)) == "a" + chr(0x1F600), valid_unicode(chr(0xD800))
    (True, '\ufffd')
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _join(parts: list[tuple[list[str], Values]]) -> TableBuilder:
    table = TableBuilder([valid_unicode(name) for names, _ in parts for name in names])
    start = 0
    for names, values in parts:
        indices = range(start, start + len(names))
        start += len(names)
        if values.dtype.kind in NUMERIC:
            add_matrix(table, indices, values)
        else:
            add_arrays(table, indices, [_arrow_array(_decoded(column)) for column in values.T])
    return table


def add_matrix(table: TableBuilder, indices: range, values: Values) -> None:
    """Add the columns of a matrix of numbers, of any type."""
    words = ("false", "true") if values.dtype.kind == "b" else ("0", "1")
    # A second reference to float64 values is only needed for infinite ones, which the columns do not keep.
    is_same = values.dtype == np.float64 and not np.isinf(values).any()
    raws = None if is_same else list(values.T)
    add_numbers(table, indices, np.array(values.T, dtype=np.float64, order="C"), raws, words=words)


def _arrow_array(values: Values) -> Any:
    if values.dtype.kind == "M":
        return pa.array(values.astype("datetime64[us]"))
    if values.dtype.kind == "m":
        return pa.array(values.astype("timedelta64[us]"))
    strings = [None if item is None else valid_unicode(str(item)) for item in values.tolist()]
    return pa.array(strings, pa.large_string())
