"""Everything that is needed to do a selection again."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import l1lsmi
from l1lsmi.report.names import shown

#: Rooms whose names are public where the package shows them, not in the file that defines them.
SHOWN_IN = {"l1lsmi.selectors": "l1lsmi"}


def again_part(selector: Any, asked: Mapping[str, Any], target: str, from_file: bool) -> dict[str, Any]:
    """Command, program and versions.

    Parameters
    ----------
    selector : fitted selector
    asked : mapping
        See `collect`.
    target : str
    from_file : bool
        Whether the data were read and prepared by `l1lsmi.files`.

    Returns
    -------
    part : dict
    """
    facts = [
        ("seed", _seed(selector)),
        ("file", asked.get("source")),
        ("format", asked.get("format")),
        ("SHA-256 of the file", asked.get("sha256")),
        ("seconds for the search", None if asked.get("seconds") is None else f"{asked['seconds']:.3g}"),
        ("l1lsmi", l1lsmi.__version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in ("numpy", "scipy", "scikit-learn")),
    ]
    command = asked.get("command")
    return {
        "command": None if command is None else shown(command, 2000),
        "snippet": _snippet(selector, asked, target, from_file),
        "facts": [{"name": name, "value": shown(value)} for name, value in facts if value is not None],
    }


def _seed(selector: Any) -> str | None:
    parameters = selector.get_params(deep=False)
    if "random_state" not in parameters:
        return None
    seed = parameters["random_state"]
    return (
        str(seed)
        if isinstance(seed, int)
        else f"{seed!r}: pass random_state=0 or another number for the same answer each time"
    )


def _snippet(selector: Any, asked: Mapping[str, Any], target: str, from_file: bool) -> str:
    lines = _imports(_parts(selector))
    if from_file and asked.get("source") is not None:
        options = "".join(f", {name}={value!r}" for name, value in dict(asked.get("prepare", {})).items())
        lines = [
            "from l1lsmi.files import prepare, read_table",
            *lines,
            "",
            f"data = prepare(read_table({asked['source']!r}), {target!r}{options})",
            "X, y = data.X, data.y",
        ]
    else:
        lines += ["", "# X: the table of features, y: the target"]
    return "\n".join(
        [*lines, f"selector = {selector!r}", "selector.fit(X, y)", "selector.get_support(indices=True)"]
    )


def _parts(selector: Any) -> list[Any]:
    """The selector and everything of this package that it is made of."""
    inside = selector.get_params(deep=True).values()
    return [selector, *(part for part in inside if type(part).__module__.startswith("l1lsmi."))]


def _imports(parts: Iterable[Any]) -> list[str]:
    names: dict[str, set[str]] = {}
    for part in parts:
        module = type(part).__module__
        room = re.sub(r"^(l1lsmi\.\w+)\..*", r"\1", module)
        room = SHOWN_IN.get(room, room)
        names.setdefault(room, set()).add(type(part).__name__)
    return [f"from {room} import {', '.join(sorted(names[room]))}" for room in sorted(names)]
