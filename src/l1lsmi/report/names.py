"""Names of features and columns as they are shown: every character visible, none of them in charge."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.target import Target

#: Characters of a name at most; what is beyond is counted.
LONGEST = 300
#: What stands for characters that cannot be seen.
VISIBLE = {"\n": "\N{RETURN SYMBOL}", "\r": "\N{RETURN SYMBOL}", "\t": "\N{RIGHTWARDS ARROW TO BAR}"}
#: Turn the order of the text around them, so that a name could pass for another one.
TURNING = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def shown(name: Any, longest: int = LONGEST) -> str:
    r"""A name as text that can be shown anywhere.

    Parameters
    ----------
    name : object
        Any label; what is not text is shown as Python writes it.
    longest : int, default=300

    Returns
    -------
    text : str
        On one line, without control characters, never empty.

    Examples
    --------
    >>> from l1lsmi.report.names import shown
    >>> shown("blood\npressure"), shown("  "), shown("x" * 9, longest=4)
    ('blood⏎pressure', '(no name)', 'xxxx… (9 characters)')
    """
    text = str(name)
    cut = "" if len(text) <= longest else f"\N{HORIZONTAL ELLIPSIS} ({len(text):,} characters)"
    kept = text[:longest]
    # Most names are plain, and there may be very many of them.
    visible = kept if kept.isprintable() else "".join(map(_visible, kept))
    return (visible.strip() or "(no name)") + cut


def _visible(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    if character in TURNING or unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp"):
        return REPLACEMENT
    return character


def feature_names_of(selector: Any, X: Any, given: Sequence[Any] | None) -> list[str]:
    """Names of the features: those given, else those of the data, else their numbers.

    Parameters
    ----------
    selector : fitted selector
    X : array-like of shape (n, m)
    given : sequence or None

    Returns
    -------
    names : list of str
    """
    m = int(np.shape(X)[1])
    if given is not None:
        names = [str(name) for name in given]
        if len(names) != m:
            raise ValueError(
                f"feature_names has {len(names)} names, but X has {m} columns: pass one for each."
            )
        return names
    if hasattr(selector, "feature_names_in_"):
        return [str(name) for name in selector.feature_names_in_]
    return [f"x{j}" for j in range(m)]


def plain_target(target: Target) -> HostArray:
    """One label or number per row, as it was before it was encoded."""
    if target.values is not None:
        return np.asarray(target.values * target.scale + target.mean)
    assert target.classes is not None
    return target.classes[target.codes]
