"""What a user writes: it runs, and ``mypy --strict`` accepts it beside the installed package."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import assert_type

import numpy as np
import numpy.typing as npt

import l1lsmi
from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR
from l1lsmi.datasets import make_xor
from l1lsmi.evaluation import f_measure
from l1lsmi.explain import Explanation, explain_selection
from l1lsmi.inference import StabilitySelector
from l1lsmi.measures import HSIC, Pearson, SquaredMutualInformation
from l1lsmi.report import write_report
from l1lsmi.strategies import Forward, Ranking


def select(k: int) -> L1LSMI:
    """Return a selector that is fitted: `fit` returns the type that it is called on."""
    X, y = make_xor(150, random_state=0)
    return assert_type(L1LSMI(k, random_state=0).fit(X, y), L1LSMI)


def main() -> None:
    """Every kind of object of the public API, once."""
    X, y = make_xor(150, random_state=0)
    assert_type(l1lsmi.__version__, str)
    selector = select(2)
    chosen: npt.NDArray[np.intp] = selector.get_support(indices=True)
    assert_type(selector.smi_, float)
    print("L1LSMI:", chosen.tolist(), selector.transform(X).shape)
    print("L1HSIC:", L1HSIC(2, random_state=0).fit(X, y).support_.tolist())

    forward = FeatureSelector(HSIC(), Forward(), 2, random_state=0).fit(X, y)
    ranking = FeatureSelector(Pearson(), Ranking(), n_features_to_select=2).fit(X, y)
    print("forward:", assert_type(forward.score_, float), "ranking:", ranking.ranking_.tolist())

    score: float = SquaredMutualInformation(random_state=0).score(X[:, chosen], y)
    print("SMI:", score, "F-measure:", f_measure(chosen, [0, 1]))
    print("MRMR:", MRMR(2).fit(X, y).support_.sum())

    stable = StabilitySelector(
        FeatureSelector(Pearson(), Ranking(), 2), 4, threshold=0.5, random_state=0
    ).fit(X, y)
    print("stable:", stable.frequency_.tolist())

    explanation: Explanation = explain_selection(selector, X, y)
    print("contributions:", len(explanation.contributions.names))
    with tempfile.TemporaryDirectory() as folder:
        report: Path = write_report(Path(folder) / "report.html", selector, X, y)
        print("report:", report.stat().st_size > 0)


if __name__ == "__main__":
    main()
