"""Links between pages that are read both here and on a code host.

On a code host ``[an example](../examples/plot_xor.py)`` opens the script. On the site it opens the page
that the gallery makes of the script. Tutorials are linked in the same way.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["setup", "to_gallery"]


def to_gallery(text: str) -> str:
    """Point links to examples at their pages in the gallery.

    Examples
    --------
    >>> to_gallery("[xor](../examples/plot_xor.py), [all](../examples/README.txt)")
    '[xor](auto_examples/plot_xor.rst), [all](auto_examples/index.rst)'
    """
    text = re.sub(r"\]\(\.\./(examples|tutorials)/(plot_\w+)\.py\)", r"](auto_\1/\2.rst)", text)
    return re.sub(r"\]\(\.\./(examples|tutorials)/README\.txt\)", r"](auto_\1/index.rst)", text)


def _on_source_read(app: Any, name: str, source: list[str]) -> None:
    if str(app.env.doc2path(name)).endswith(".md"):
        source[0] = to_gallery(source[0])


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("source-read", _on_source_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
