"""The .Z format of the Unix program compress, in which the UCI archive keeps some of its older files."""

from __future__ import annotations

MAGIC = b"\x1f\x9d"
CLEAR = 256


def uncompress(packed: bytes) -> bytes:
    """Undo ``compress``: Lempel-Ziv-Welch codes of 9 bits and more, the lowest bit first.

    Parameters
    ----------
    packed : bytes

    Returns
    -------
    bytes

    Examples
    --------
    >>> uncompress(bytes.fromhex("1f9d9061c48400"))
    b'ab!'
    """
    if len(packed) < 3 or packed[:2] != MAGIC:
        raise ValueError("it does not begin as a .Z file does")
    longest, with_clear = packed[2] & 0x1F, bool(packed[2] & 0x80)
    first = [bytes([i]) for i in range(256)] + [b""] * with_clear
    strings, width, before = list(first), 9, b""
    pieces: list[bytes] = []
    place = 3
    while place < len(packed):
        # Codes come in groups of eight; what is left of a group when the width changes is padding.
        group = packed[place : place + width]
        place += width
        bits = int.from_bytes(group, "little")
        for _ in range(len(group) * 8 // width):
            code, bits = bits & ((1 << width) - 1), bits >> width
            if with_clear and code == CLEAR:
                strings, width, before = list(first), 9, b""
                break
            before = _next(strings, code, before, 1 << longest)
            pieces.append(before)
            if len(strings) >= 1 << width and width < longest:
                width += 1
                break
    return b"".join(pieces)


def _next(strings: list[bytes], code: int, before: bytes, most: int) -> bytes:
    """The string of a code; the one before and its first letter become a new string."""
    if code < len(strings):
        string = strings[code]
    elif before and code == len(strings):
        string = before + before[:1]
    else:
        raise ValueError("it is a damaged .Z file")
    if before and len(strings) < most:
        strings.append(before + string[:1])
    return string
