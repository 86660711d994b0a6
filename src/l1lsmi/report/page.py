"""The page: a template, the pictures' programs and the numbers, in one file that asks nothing of anyone."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from l1lsmi.report.numbers import percent, sig, thousands

STYLES = ("page.css", "pictures.css")
#: In the order in which they need each other; all share one scope.
SCRIPTS = (
    "base.js",
    "explore.js",
    "path.js",
    "score.js",
    "heatmap.js",
    "features.js",
    "held.js",
    "start.js",
)
#: Characters that could end the element that holds the numbers, or a line of it.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def render(report: Mapping[str, Any]) -> str:
    """Make the page of a report.

    Parameters
    ----------
    report : dict
        What `collect` gives.

    Returns
    -------
    html : str
        One file: opened from disk it shows everything and asks nothing of the network.

    Examples
    --------
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.report import collect, render
    >>> X, y = make_xor(100, random_state=0)
    >>> selector = L1LSMI(2, random_state=0).fit(X, y)
    >>> html = render(collect(selector, X, y, target="either", held_out=False))
    >>> html.startswith("<!DOCTYPE html>"), "</html>" in html
    (True, True)
    """
    style = "".join(_asset(name) for name in STYLES)
    script = _script()
    template, undefined = _template()
    try:
        return str(
            template.render(
                report=report,
                features={feature["id"]: feature for feature in report["features"]},
                style=style,
                style_hash=_hash(style),
                script=script,
                script_hash=_hash(script),
                data=_data(report),
            )
        )
    except (KeyError, undefined) as error:
        raise ValueError(
            f"report is not what collect gives, {error} is missing: pass its dict as it is."
        ) from None


def schema() -> dict[str, Any]:
    """The JSON schema of what `collect` gives.

    Examples
    --------
    >>> from l1lsmi.report import schema
    >>> "path" in schema()["properties"]
    True
    """
    return dict(json.loads(files("l1lsmi.report").joinpath("schema.json").read_text(encoding="utf-8")))


def _asset(name: str) -> str:
    """Text of a file of the page; with one kind of line end, as browsers see it when they take its hash."""
    text = files("l1lsmi.report").joinpath("assets", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _script() -> str:
    body = "".join(_asset(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _hash(text: str) -> str:
    """What a content security policy knows an inline element by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(report: Mapping[str, Any]) -> str:
    """The report as JSON that cannot be taken for a part of the page."""
    try:
        text = json.dumps(report, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"report cannot be written as JSON ({error}): pass what collect gives, as it is."
        ) from None
    return text.translate(ESCAPES)


def _plain_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _template() -> tuple[Any, type[Exception]]:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined, UndefinedError
    except ImportError:
        raise ImportError("Reports are made with jinja2: pip install 'l1lsmi[report]'.") from None

    def load(name: str) -> str:
        return files("l1lsmi.report").joinpath("templates", name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(load),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(sig=sig, percent=percent, thousands=thousands, json=_plain_json)
    return environment.get_template("page.html.j2"), UndefinedError
