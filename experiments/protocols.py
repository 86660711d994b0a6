"""Protocols: the rows that methods select on, and how the selected columns are scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.config import Config
from experiments.problem import Drawn, Problem
from experiments.registry import all_problems
from experiments.seeds import stable_seed
from l1lsmi.evaluation import SVMError, f_measure, held_out_error, redundancy_rate, svm_error

Values = dict[str, float | None]


@dataclass(frozen=True)
class Protocol:
    """One protocol on the rows of one trial.

    Attributes
    ----------
    name : {"toy", "subset", "paper", "held_out"}
    metric : str
        What the values are.
    train : Drawn
        Rows to select on; the same object in protocols that share the selection.
    n_test : int
        Number of held-out rows.
    score : callable
        ``score(selected)`` gives the value of the selected columns, and what belongs to it.
    """

    name: str
    metric: str
    train: Drawn
    n_test: int
    score: Callable[[list[int]], Values]


def metric_of(protocol: str, problem: Problem) -> str:
    """What the values of a protocol are."""
    fixed = {"toy": "f_measure", "subset": "smi"}
    return fixed.get(protocol) or ("error_rate" if problem.task == "classification" else "rmse")


def protocols_of(config: Config, dataset: str, trial: int) -> list[Protocol]:
    """The protocols of a configuration, on the rows of one trial."""
    problem = all_problems()[dataset]
    drawn = problem.draw(trial, config.n_samples, config.seed)
    folds = {"task": problem.task, "random_state": stable_seed(config.seed, dataset, trial, "folds")}
    # Protocols that select on the same rows share the grid search.
    searched: dict[tuple[int, ...], SVMError] = {}

    def toy_score(selected: list[int]) -> Values:
        return {
            "value": f_measure(selected, problem.true_features),
            "redundancy": redundancy(drawn, selected),
        }

    def paper_score(selected: list[int]) -> Values:
        found = svm_error(drawn.X[:, selected], drawn.y, **folds)
        searched[tuple(selected)] = found
        return _values(found, drawn, selected)

    def held_out() -> Protocol:
        train, test = problem.split(trial, config.n_samples, config.seed)
        if problem.shares_rows(config.n_samples):
            train = drawn

        def held_out_score(selected: list[int]) -> Values:
            found = held_out_error(
                train.X[:, selected],
                train.y,
                test.X[:, selected],
                test.y,
                groups=train.groups,
                chosen=searched.get(tuple(selected)) if train is drawn else None,
                **folds,
            )
            return _values(found, train, selected)

        return Protocol("held_out", metric_of("held_out", problem), train, len(test.y), held_out_score)

    scores = {"toy": toy_score, "subset": dict, "paper": paper_score}
    return [
        held_out() if name == "held_out" else Protocol(name, metric_of(name, problem), drawn, 0, scores[name])
        for name in config.protocols
    ]


def _values(found: Any, train: Drawn, selected: list[int]) -> Values:
    return {
        "value": float(found.error),
        "C": float(found.C),
        "sigma_factor": float(found.sigma_factor),
        "redundancy": redundancy(train, selected),
    }


def redundancy(drawn: Drawn, selected: list[int]) -> float | None:
    """Redundancy rate of the selected columns, or None where it is undefined."""
    rate = redundancy_rate(drawn.X, selected)
    return float(rate) if np.isfinite(rate) else None
