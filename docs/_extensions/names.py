"""Names in docstrings.

`HSIC` is a link, wherever in the package HSIC lives: Sphinx by itself looks only in the module that the name
is written in. And ``shape (n_features_in_,)`` is no link, as an underscore at the end
of a word would make it.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["setup"]


def _resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    if node.get("refdomain") != "py" or node.get("reftype") != "obj" or node.get("near"):
        return None
    domain = env.domains["py"]
    matches = domain.find_obj(env, None, None, node["reftarget"], "obj", 1)
    if len(matches) != 1:  # unknown, or the name of several things
        return None
    node["near"], node["reftarget"] = True, matches[0][0]
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", matches[0][0], node, content)


def _escape_shapes(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    for i, line in enumerate(lines):
        lines[i] = re.sub(r"shape \([^)]*\)", lambda shape: re.sub(r"(?<!\\)_(?=\W)", r"\\_", shape[0]), line)


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-process-docstring", _escape_shapes, priority=100)  # before numpydoc reads them
    return {"parallel_read_safe": True, "parallel_write_safe": True}
