"""A report as an object: shown in a notebook, or saved."""

from __future__ import annotations

import html
import os
from pathlib import Path
from typing import Any

from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from l1lsmi.report.content import collect
from l1lsmi.report.page import render, write_page

#: Height of a report in a notebook, in pixels.
HEIGHT = 800


class Report:
    """The report of a selection.

    Parameters
    ----------
    data : dict
        The result of `collect`.

    Attributes
    ----------
    data : dict
    html : str
        The page.

    Examples
    --------
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> X, y = make_xor(200, random_state=0)
    >>> report = L1LSMI(2, random_state=0).fit(X, y).report(X, y)
    >>> print(report)  # doctest: +ELLIPSIS
    2 of 10 features selected to predict target: x..., x...
    In rows that the search has not seen, these features predict ...
    Kernel ridge regression with the selected features has an error rate of ...
    """

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self._html: str | None = None

    @property
    def html(self) -> str:
        if self._html is None:
            self._html = render(self.data)
        return self._html

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page as one HTML file; an existing file is replaced only when the page is complete.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        path : pathlib.Path
        """
        return write_page(path, lambda: self.html)

    def _repr_html_(self) -> str:
        # A page of its own, whose style and scripts do not meet those of the notebook.
        page = html.escape(self.html, quote=True)
        return (
            f'<iframe title="Report of a selection" srcdoc="{page}" style="width: 100%; height: {HEIGHT}px; '
            'border: 1px solid #8888"></iframe>'
        )

    def __repr__(self) -> str:
        chosen, asked = self.data["chosen"], self.data["asked"]
        names = {feature["id"]: feature["name"] for feature in self.data["features"]}
        listed = ", ".join(names[row["id"]] for row in chosen["rows"])
        head = f"{chosen['n_selected'] or 'none'} of {asked['n_features']:,} features selected to predict "
        lines = [f"{head}{asked['target']}{': ' + listed if listed else ''}"]
        held = self.data["held_out"]
        of_number = (chosen["how_many"], chosen["dispensable"])
        told = [chosen["evidence"], *of_number, *(held["sentences"] if held else [])]
        return "\n".join([*lines, *(sentence for sentence in told if sentence)])


def make_report(selector: Any, X: Any, y: Any, **options: Any) -> Report:
    """Compute the report of a fitted selector, or of a pipeline with one.

    Parameters
    ----------
    selector : fitted selector or Pipeline
        For a pipeline, the report is about the last step that selects features, with X as transformed by the
        steps before it. A predictor at the end of the pipeline is the model that is tested.
    X : array-like or dataframe of shape (n, m)
    y : array-like of shape (n,) or (n, t)
    **options
        See `collect`.

    Returns
    -------
    Report

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from l1lsmi import L1LSMI
    >>> from l1lsmi.datasets import make_xor
    >>> from l1lsmi.report import make_report
    >>> X, y = make_xor(200, random_state=0)
    >>> model = make_pipeline(StandardScaler(), L1LSMI(2, random_state=0), DecisionTreeClassifier())
    >>> make_report(model.fit(X, y), X, y).data["held_out"]["model"]
    'DecisionTreeClassifier'
    """
    if isinstance(selector, Pipeline):
        selector, X, options = _inside(selector, X, options)
    return Report(collect(selector, X, y, **options))


def _inside(pipeline: Pipeline, X: Any, options: dict[str, Any]) -> tuple[Any, Any, dict[str, Any]]:
    """The selector of a pipeline, what it is given, and options with the model and the names of features."""
    places = [i for i, (_, step) in enumerate(pipeline.steps) if hasattr(step, "get_support")]
    if not places:
        raise ValueError(
            "selector is a Pipeline without a step that selects features: pass a fitted selector, or a "
            "pipeline with one."
        )
    place = places[-1]
    selector, before, last = pipeline.steps[place][1], pipeline[:place], pipeline.steps[-1][1]
    if place:
        if "feature_names" not in options and not hasattr(selector, "feature_names_in_"):
            try:
                names = before.get_feature_names_out()
            except (AttributeError, ValueError):  # of steps that cannot name their columns
                names = None
            if names is not None:
                options = {**options, "feature_names": [str(name) for name in names]}
        X = before.transform(X)
        options = {**options, "asked": {"transformed": True, **(options.get("asked") or {})}}
    if (is_classifier(last) or is_regressor(last)) and options.get("model") is None:
        options = {**options, "model": clone(last)}
    return selector, X, options
