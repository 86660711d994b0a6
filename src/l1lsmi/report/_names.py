"""Names as printable text, and targets as they were before encoding."""

from __future__ import annotations

import unicodedata
from typing import Any

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target

#: Longest name, in characters.
MAX_LENGTH = 300
#: Visible symbols for characters that break the line.
VISIBLE = {"\n": "\N{RETURN SYMBOL}", "\r": "\N{RETURN SYMBOL}", "\t": "\N{RIGHTWARDS ARROW TO BAR}"}
#: Bidirectional control characters: they reorder text, so that one name could look like another.
BIDI_CONTROLS = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(name: Any, max_length: int = MAX_LENGTH) -> str:
    r"""A name as one line of printable text.

    Parameters
    ----------
    name : object
        Any label; converted with ``str``.
    max_length : int, default=300

    Returns
    -------
    text : str
        On one line, without control characters, never empty.

    Examples
    --------
    >>> from l1lsmi.report._names import printable
    >>> printable("blood\npressure"), printable("  "), printable("x" * 9, max_length=4)
    ('blood⏎pressure', '(no name)', 'xxxx… (9 characters)')
    """
    text = str(name)
    cut = "" if len(text) <= max_length else f"\N{HORIZONTAL ELLIPSIS} ({len(text):,} characters)"
    kept = text[:max_length]
    # The quick test first: there may be very many names, and most are printable.
    visible = kept if kept.isprintable() else "".join(map(_visible, kept))
    return (visible.strip() or "(no name)") + cut


def _visible(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    if character in BIDI_CONTROLS or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
        return REPLACEMENT
    return character


def decoded_target(target: Target) -> HostArray:
    """One label or number per row, as before encoding; several in columns."""
    return target.decoded()
