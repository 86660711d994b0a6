"""`HSIC` in a docstring is a link, wherever in the package HSIC lives.

Sphinx resolves a name in backticks only within the module that it is written in.
"""

from __future__ import annotations

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


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
