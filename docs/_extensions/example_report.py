"""A report to look at: made with every build, of data that ships with scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.datasets import load_wine

from l1lsmi import L1LSMI

__all__ = ["setup"]


def _on_finished(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.format != "html":
        return
    from l1lsmi.report import write_report

    wine = load_wine()
    selector = L1LSMI(3, random_state=0).fit(wine.data, wine.target)
    names = list(wine.feature_names)
    path = Path(app.outdir) / "example_report.html"
    write_report(path, selector, wine.data, wine.target, feature_names=names, target="kind of wine")


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("build-finished", _on_finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
