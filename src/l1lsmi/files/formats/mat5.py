"""MATLAB files of version 5 to 7, read with every length checked.

SciPy's reader believes what such a file says of itself, and a damaged one can bring the whole process down.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from l1lsmi.files.memory import check_room
from l1lsmi.files.table import Values

#: Name, and an array of numbers or of words (objects, None where empty); None in its place for all else.
Variable = tuple[str, Values | None]

HEADER = 128
MATRIX, COMPRESSED = 14, 15
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
ENCODED = {16: "utf-8", 17: "utf-16", 18: "utf-32"}
CELL, CHAR, SPARSE, OPAQUE = 1, 4, 5, 17
NUMERIC = dict(zip(range(6, 16), ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"), strict=True))
COMPLEX, LOGICAL = 0x800, 0x200
#: Cells in cells in cells are no table.
DEEPEST = 3


class _Elements:
    """Elements of a file or of a matrix, one after the other."""

    def __init__(self, data: bytes, order: str, start: int = 0) -> None:
        self.data, self.order, self.at = memoryview(data), order, start

    def __bool__(self) -> bool:
        return self.at < len(self.data)

    def take(self) -> tuple[int, memoryview]:
        """The type and the bytes of the next element."""
        kind, size = (int(v) for v in np.frombuffer(self.data[self.at : self.at + 8], f"{self.order}u4"))
        if kind >> 16:  # up to four bytes are kept in the place of their number
            kind, size, start = kind & 0xFFFF, kind >> 16, self.at + 4
            self.at += 8
            if size > 4:
                raise ValueError("a short element is too long")
        else:
            start = self.at + 8
            # All but packed elements begin at multiples of 8.
            self.at = start + (size if kind == COMPRESSED else -(-size // 8) * 8)
        if start + size > len(self.data):
            raise ValueError("an element is longer than what holds it")
        return kind, self.data[start : start + size]

    def numbers(self) -> Values:
        """The next element, which must be numbers."""
        kind, data = self.take()
        if kind not in STORED:
            raise ValueError(f"numbers have the unknown type {kind}")
        return np.frombuffer(data, f"{self.order}{STORED[kind]}")

    def letters(self) -> str:
        """The next element, which must be text."""
        kind, data = self.take()
        if kind in ENCODED:
            suffix = {"<": "-le", ">": "-be"}[self.order] if kind != 16 else ""
            return bytes(data).decode(ENCODED[kind] + suffix)
        if kind not in STORED:
            raise ValueError(f"letters have the unknown type {kind}")
        return "".join(map(chr, np.frombuffer(data, f"{self.order}{STORED[kind]}").tolist()))


def variables(data: bytes, source: str) -> Iterator[Variable]:
    """The variables of a file.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.

    Raises
    ------
    ValueError, zlib.error and others
        If the file is damaged.
    """
    order = {b"IM": "<", b"MI": ">"}.get(data[126:128])
    if order is None:
        raise ValueError("its header does not say in which order bytes are")
    elements = _Elements(data, order, HEADER)
    while elements:
        kind, content = elements.take()
        if kind == COMPRESSED:
            kind, content = _Elements(_unpacked(content, order, source), order).take()
        if kind != MATRIX:
            raise ValueError(f"an element has the unknown type {kind}")
        check_room(source, 2 * len(content), "its arrays")
        name, values = _matrix(content, order, source, 0)
        if name:  # without one it is no variable, but what functions need
            yield name, values


def _unpacked(packed: memoryview, order: str, source: str) -> bytes:
    """The one element that was packed, once it is known to fit."""
    stream = zlib.decompressobj()
    tag = stream.decompress(packed, 8)
    size = int(np.frombuffer(tag, f"{order}u4")[1])
    check_room(source, 2 * size, "its arrays")
    return tag + stream.decompress(stream.unconsumed_tail, size) if size else tag


def _matrix(content: memoryview, order: str, source: str, depth: int) -> Variable:
    if not content:
        return "", np.empty((0, 0))
    parts = _Elements(bytes(content), order)
    flags = int(parts.numbers()[0])
    kind = flags & 0xFF
    shape = () if kind == OPAQUE else tuple(int(length) for length in parts.numbers())
    name = parts.letters()
    if min(shape, default=0) < 0:
        raise ValueError(f"an array has the shape {shape}")
    if flags & COMPLEX or depth > DEEPEST:
        return name, None
    if kind in NUMERIC:
        values = parts.numbers().astype(np.bool_ if flags & LOGICAL else NUMERIC[kind])
        return name, values.reshape(shape, order="F")
    if kind == CHAR:
        letters = parts.letters()
        if len(letters) != math.prod(shape) or len(shape) != 2:
            raise ValueError("a matrix of letters has not as many as it says")
        words = ["".join(letters[row :: shape[0]]) for row in range(shape[0])]
        return name, np.array([word.rstrip() for word in words], dtype=np.str_)
    if kind == SPARSE:
        return name, _sparse(parts, shape, source)
    return name, _cells(parts, shape, source, depth) if kind == CELL else None


def _sparse(parts: _Elements, shape: tuple[int, ...], source: str) -> Values:
    """A full copy of a matrix that is stored by what is not zero in it."""
    check_room(source, 16 * math.prod(shape), "a full copy of a sparse matrix")
    rows, starts, values = (np.array(parts.numbers()) for _ in range(3))
    n = int(starts[-1])
    matrix = sparse.csc_array((values[:n].astype(np.float64), rows[:n], starts), shape=shape)
    # A damaged index would write beside the matrix.
    matrix.check_format(full_check=True)
    return np.asarray(matrix.toarray())


def _cells(parts: _Elements, shape: tuple[int, ...], source: str, depth: int) -> Values | None:
    """Cells of words or of single numbers as one array; None where they hold anything else."""
    found: list[Values | None] = []
    while parts:
        kind, content = parts.take()
        if kind != MATRIX:
            raise ValueError(f"a cell has the unknown type {kind}")
        found.append(_matrix(content, parts.order, source, depth + 1)[1])
    return joined_cells(found, shape)


def joined_cells(cells: list[Values | None], shape: tuple[int, ...]) -> Values | None:
    """Cells that hold one word or one number each as one array, else None."""
    items: list[object] = []
    for cell in cells:
        if cell is None or cell.size > 1 or cell.dtype.kind not in "Ufiub":
            return None
        items.append(cell.item() if cell.size else None)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    if all(isinstance(item, (int, float)) for item in items):
        array = array.astype(np.float64)
    return array.reshape(shape, order="F")
