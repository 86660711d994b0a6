"""Sizes of the compressed buffers of an Arrow file, as its metadata state them: nothing is decompressed.

A file states how long a buffer is once it is decompressed, and Arrow allocates that much before it finds out
whether it is true. The metadata are tables of FlatBuffers: a table begins with the distance to a list of the
places of its fields, and places are relative.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from l1lsmi._arrow import STREAM_MAGIC

FILE_MAGIC = b"ARROW1"
#: Fields of the tables in Message.fbs and File.fbs of the Arrow format, by their numbers.
HEADER_TYPE, HEADER, BODY_LENGTH = 1, 2, 3
DICTIONARY_BATCH, RECORD_BATCH = 2, 3
BATCH_OF_DICTIONARY = 1
BUFFERS, COMPRESSION = 2, 3
DICTIONARIES, RECORD_BATCHES = 2, 3
BLOCK = np.dtype([("offset", "<i8"), ("metadata", "<i4"), ("padding", "<i4"), ("body", "<i8")])
BUFFER = np.dtype([("offset", "<i8"), ("length", "<i8")])
#: What files of version 4 of the metadata have in the place of the field.
OLD_COMPRESSION = b"ARROW:experimental_compression"
#: The length of a buffer that is not compressed.
NOT_COMPRESSED = -1

Sizes = npt.NDArray[np.int64]


def decompressed_sizes(stream: Any) -> list[Sizes]:
    """Bytes of the buffers of each record batch and dictionary once they are decompressed.

    Parameters
    ----------
    stream : pyarrow.NativeFile
        A Feather file or an Arrow stream, which can be read at any position.

    Returns
    -------
    sizes : list of ndarray
        0 for a buffer that is not compressed. Empty for the old Feather format, which has no compression.

    Raises
    ------
    struct.error, ValueError
        If the metadata are damaged.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa
    >>> from pyarrow import feather
    >>> from l1lsmi.files._formats.arrow_buffers import decompressed_sizes
    >>> sink = pa.BufferOutputStream()
    >>> feather.write_feather(pa.table({"a": np.zeros(1000)}), sink, compression="zstd")
    >>> [sizes.tolist() for sizes in decompressed_sizes(pa.BufferReader(sink.getvalue()))]
    [[0, 8000]]
    """
    size = stream.size()
    start = _read(stream, 0, 8, size)
    if start.startswith(FILE_MAGIC):
        messages = _messages_of_file(stream, size)
    elif start.startswith(STREAM_MAGIC):
        messages = _messages_of_stream(stream, size)
    else:
        return []
    found = (_sizes(stream, metadata, body, size) for metadata, body in messages)
    return [sizes for sizes in found if sizes is not None]


def total_size(sizes: Iterable[Sizes]) -> int:
    """The sum of all sizes, which may be too large for 64 bits."""
    return sum(sum(batch.tolist()) for batch in sizes)


def largest_column(sizes: Iterable[Sizes]) -> int:
    """The most bytes that the buffers at one place of all record batches have in all."""
    totals: dict[tuple[int, int], int] = {}
    for batch in sizes:
        for place, size in enumerate(batch.tolist()):
            # Dictionaries have another number of buffers than record batches, or count as part of them.
            totals[len(batch), place] = totals.get((len(batch), place), 0) + size
    return max(totals.values(), default=0)


def _read(stream: Any, start: int, length: int, size: int) -> bytes:
    stream.seek(min(max(start, 0), size))
    data: bytes = stream.read(max(0, min(length, size - start)))
    return data


# -- where messages are -----------------------------------------------------------------------


def _messages_of_file(stream: Any, size: int) -> Iterator[tuple[bytes, int]]:
    """Metadata of the batches, and where their buffers begin, as the end of a file lists them."""
    end = size - len(FILE_MAGIC) - 4
    (length,) = struct.unpack("<i", _read(stream, end, 4, size))
    footer = _read(stream, end - length, length, size)
    for field in (DICTIONARIES, RECORD_BATCHES):
        for block in _structs(footer, _root(footer), field, BLOCK):
            start, length = int(block["offset"]), int(block["metadata"])
            yield _without_prefix(_read(stream, start, length, size)), start + length


def _messages_of_stream(stream: Any, size: int) -> Iterator[tuple[bytes, int]]:
    position = 0
    while position + 8 <= size:
        _, length = struct.unpack("<ii", _read(stream, position, 8, size))
        if length <= 0:
            return
        metadata = _read(stream, position + 8, length, size)
        position += 8 + length
        yield metadata, position
        place = _field(metadata, _root(metadata), BODY_LENGTH)
        position += max(0, struct.unpack_from("<q", metadata, place)[0]) if place else 0


def _without_prefix(data: bytes) -> bytes:
    """Metadata without their length, which old files write without the four bytes before it."""
    return data[8:] if data.startswith(STREAM_MAGIC) else data[4:]


# -- what a message says ----------------------------------------------------------------------


def _sizes(stream: Any, metadata: bytes, body: int, size: int) -> Sizes | None:
    """Sizes of the buffers of one message; None if it has no buffers."""
    message = _root(metadata)
    kind = _field(metadata, message, HEADER_TYPE)
    batch = _table(metadata, message, HEADER)
    if not kind or not batch or metadata[kind] not in (DICTIONARY_BATCH, RECORD_BATCH):
        return None
    if metadata[kind] == DICTIONARY_BATCH:
        batch = _table(metadata, batch, BATCH_OF_DICTIONARY)
    buffers = _structs(metadata, batch, BUFFERS, BUFFER)
    sizes = np.zeros(len(buffers), dtype=np.int64)
    if not _field(metadata, batch, COMPRESSION) and OLD_COMPRESSION not in metadata:
        return sizes
    for place, buffer in enumerate(buffers):
        if buffer["length"] >= 8:
            (stated,) = struct.unpack("<q", _read(stream, body + int(buffer["offset"]), 8, size))
            sizes[place] = 0 if stated == NOT_COMPRESSED else stated
    if (sizes < 0).any():
        raise ValueError("a buffer of negative length")
    return sizes


# -- FlatBuffers ------------------------------------------------------------------------------


def _root(data: bytes) -> int:
    """The position of the outermost table."""
    return int(struct.unpack_from("<I", data)[0])


def _field(data: bytes, table: int, number: int) -> int:
    """The position of a field of a table; 0 if it has none."""
    places = table - struct.unpack_from("<i", data, table)[0]
    (length,) = struct.unpack_from("<H", data, places)
    if 4 + 2 * number >= length:
        return 0
    (place,) = struct.unpack_from("<H", data, places + 4 + 2 * number)
    return table + place if place else 0


def _table(data: bytes, table: int, number: int) -> int:
    """The position of the table in a field, or of the vector; 0 if there is none."""
    place = _field(data, table, number)
    return place + int(struct.unpack_from("<I", data, place)[0]) if place else 0


def _structs(data: bytes, table: int, number: int, dtype: np.dtype[Any]) -> Any:
    """The vector of structures in a field."""
    vector = _table(data, table, number)
    if not vector:
        return np.empty(0, dtype)
    (length,) = struct.unpack_from("<I", data, vector)
    return np.frombuffer(data, dtype, length, vector + 4)
