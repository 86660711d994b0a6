"""The HTML page of a report: templates, style, scripts and data in one file without external resources."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from l1lsmi._atomic_file import write_atomically
from l1lsmi.explain._values import DAYS_SINCE
from l1lsmi.report._numbers import in_unit, percent, sig, tenths, unbroken
from l1lsmi.report.content import collect

STYLES = ("page.css", "pictures.css")
#: In the order of their dependencies; all share one scope.
SCRIPTS = (
    "base.js",
    "explore.js",
    "path.js",
    "score.js",
    "heatmap.js",
    "features.js",
    "pairs.js",
    "errors.js",
    "sort.js",
    "start.js",
)
#: Characters that could end the element with the data, or a line of it.
ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}
#: Between the words of a name that has no spaces.
WORDS = re.compile(r"(?<=[_.:;/\\-])(?=[^\W\d_])|(?<=[a-z])(?=[A-Z])")


def render(report: Mapping[str, Any]) -> str:
    """Render a report as HTML.

    Parameters
    ----------
    report : dict
        The result of `collect`.

    Returns
    -------
    html : str
        A complete page, which loads nothing from the network.

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
        raise ValueError(f"report lacks {error}: pass the unchanged result of collect.") from None


def write_report(path: str | os.PathLike[str], selector: Any, X: Any, y: Any, **options: Any) -> Path:
    """Write the report of a selection as one HTML file.

    Parameters
    ----------
    path : str or path
        Written atomically: an existing file is replaced once the report is complete.
    selector : fitted selector
    X : array-like of shape (n, m)
    y : array-like of shape (n,)
    **options
        See `collect`.

    Returns
    -------
    path : pathlib.Path

    Examples
    --------
    >>> import tempfile
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.report import write_report
    >>> X, y = make_xor(100, random_state=0)
    >>> selector = L1LSMI(2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_report(f"{folder}/report.html", selector, X, y, target="either", held_out=False)
    ...     path.stat().st_size < 200_000
    True
    """
    return write_page(path, lambda: render(collect(selector, X, y, **options)))


def write_page(path: str | os.PathLike[str], make: Callable[[], str]) -> Path:
    """Make and write a page; if its folder does not exist, the page is not made."""
    place = Path(path)
    if not place.parent.is_dir():
        raise ValueError(
            f"path is {str(path)!r}, but there is no folder {str(place.parent)!r}: create it first."
        )
    write_atomically(place, make().encode("utf-8"))
    return place


def schema() -> dict[str, Any]:
    """The JSON schema of the result of `collect`.

    Examples
    --------
    >>> from l1lsmi.report import schema
    >>> "path" in schema()["properties"]
    True
    """
    return dict(json.loads(files("l1lsmi.report").joinpath("schema.json").read_text(encoding="utf-8")))


def _asset(name: str) -> str:
    """Text of an asset, with the line ends that browsers hash."""
    text = files("l1lsmi.report").joinpath("assets", name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


def _script() -> str:
    body = "".join(_asset(name) for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{body}}})();\n'


def _hash(text: str) -> str:
    """Hash of an inline element for the content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(report: Mapping[str, Any]) -> str:
    """The report as JSON without characters that are special in HTML."""
    try:
        text = json.dumps(report, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"report cannot be written as JSON ({error}): pass the unchanged result of collect."
        ) from None
    return text.translate(ESCAPES)


def _plain_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _breakable(name: str) -> Any:
    """A name as HTML, with places for line breaks between the words of names without spaces."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(piece) for piece in WORDS.split(name))


def _template() -> tuple[Any, type[Exception]]:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined, UndefinedError
    except ImportError:
        raise ImportError("Reports need jinja2: pip install 'l1lsmi[report]'.") from None

    def load(name: str) -> str:
        return files("l1lsmi.report").joinpath("templates", name).read_text(encoding="utf-8")

    environment = Environment(
        loader=FunctionLoader(load),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        sig=sig,
        in_unit=in_unit,
        percent=percent,
        tenths=tenths,
        thousands="{:,}".format,
        json=_plain_json,
        breakable=_breakable,
        unbroken=unbroken,
    )
    environment.tests["dates"] = lambda unit: unit == DAYS_SINCE
    return environment.get_template("page.html.j2"), UndefinedError
