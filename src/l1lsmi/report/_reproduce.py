"""What is needed to reproduce a selection: command, Python code and versions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from l1lsmi._validation.parameters import for_other_rows
from l1lsmi._versions import versions
from l1lsmi.report._names import printable

#: Modules whose classes are imported from another module.
IMPORT_FROM = {"l1lsmi.selectors": "l1lsmi"}
#: Options of `l1lsmi.files.prepare` that give an argument of ``fit``.
GIVEN = {"groups": "groups", "weights": "sample_weight", "covariates": "covariates"}


def reproduce_section(
    selector: Any, origin: Mapping[str, Any], target: str | Sequence[str], from_file: bool
) -> dict[str, Any]:
    """Command, Python code and versions.

    Parameters
    ----------
    selector : fitted selector
    origin : mapping
        The parameter ``asked`` of `collect`.
    target : str or sequence of str
    from_file : bool
        Whether the data were read and prepared by `l1lsmi.files`.

    Returns
    -------
    part : dict
    """
    facts = [
        ("seed", _seed(selector)),
        ("file", origin.get("source")),
        ("format", origin.get("format")),
        ("SHA-256 of the file", origin.get("sha256")),
        ("seconds for the search", None if origin.get("seconds") is None else f"{origin['seconds']:.3g}"),
        *versions().items(),
    ]
    command = origin.get("command")
    return {
        "command": None if command is None else printable(command, 2000),
        "snippet": _snippet(selector, origin, target, from_file),
        "facts": [{"name": name, "value": printable(value)} for name, value in facts if value is not None],
    }


def _seed(selector: Any) -> str | None:
    parameters = selector.get_params(deep=False)
    if "random_state" not in parameters:
        return None
    seed = parameters["random_state"]
    return (
        str(seed)
        if isinstance(seed, int)
        else f"{seed!r}: pass random_state=0 or another integer for a reproducible result"
    )


def _snippet(selector: Any, origin: Mapping[str, Any], target: str | Sequence[str], from_file: bool) -> str:
    target = target if isinstance(target, str) else list(target)
    lines = _imports(_parts(selector))
    if from_file and origin.get("source") is not None:
        options = "".join(f", {name}={value!r}" for name, value in dict(origin.get("prepare", {})).items())
        lines = [
            "from l1lsmi.files import prepare, read_table",
            *lines,
            "",
            f"data = prepare(read_table({origin['source']!r}), {target!r}{options})",
            "X, y = data.X, data.y",
        ]
    else:
        steps = " that the steps before the selector give" if origin.get("transformed") else ""
        lines += ["", f"# X: the features{steps}, y: the target"]
    prepared = dict(origin.get("prepare", {})) if from_file else {}
    given = "".join(f", {argument}=data.{argument}" for name, argument in GIVEN.items() if name in prepared)
    fit = f"selector.fit(X, y{given})"
    made = f"selector = {for_other_rows(selector)!r}"
    return "\n".join([*lines, made, fit, "print(selector.get_feature_names_out())"])


def _parts(selector: Any) -> list[Any]:
    """The selector, and its parameters that are objects of this package."""
    inside = selector.get_params(deep=True).values()
    return [selector, *(part for part in inside if type(part).__module__.startswith("l1lsmi."))]


def _imports(parts: Iterable[Any]) -> list[str]:
    names: dict[str, set[str]] = {}
    for part in parts:
        module = type(part).__module__
        public = re.sub(r"^(l1lsmi\.\w+)\..*", r"\1", module)
        public = IMPORT_FROM.get(public, public)
        names.setdefault(public, set()).add(type(part).__name__)
    return [f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)]
