"""What scores are worth where there is nothing to be found."""

from __future__ import annotations

import numpy as np

from l1lsmi.arrays import HostArray
from l1lsmi.explain._study import Study
from l1lsmi.measures import HSIC, Pearson
from l1lsmi.numerics.ranking import best_first
from l1lsmi.numerics.target import Target
from l1lsmi.rows import Table

__all__ = ["gains_of_shuffled", "noise_level", "strongest_alone"]

#: Features that HSIC looks at; of more, those that correlate most with the target.
MOST_BY_HSIC = 100
#: Shuffled targets, and features that are scored in full for each.
N_SHUFFLES = 5
N_SCORED = 2


def strongest_alone(study: Study, columns: HostArray, target: Target | None = None) -> HostArray:
    """Columns by what a quick look says of each, strongest first: correlation, then HSIC."""
    target = study.target if target is None else target
    if columns.size > MOST_BY_HSIC:
        by_line = np.asarray(study.bind(target, Pearson()).score_each(columns))
        columns = columns[best_first(by_line)[:MOST_BY_HSIC]]
    quick = np.asarray(study.bind(target, HSIC()).score_each(columns))
    return columns[best_first(quick)]


def noise_level(study: Study, columns: HostArray) -> float:
    """The highest score that the strongest feature reaches for a shuffled target.

    The strongest is looked for anew in every shuffle, as it is for the true target: the best of many
    features that say nothing seems to say something.
    """
    rng = np.random.default_rng((0, study.n_rows))
    highest = 0.0
    for _ in range(N_SHUFFLES):
        target = _shuffled(study.target, rng.permutation(study.n_rows))
        problem = study.bind(target)
        for column in strongest_alone(study, columns, target)[:N_SCORED]:
            highest = max(highest, float(problem.score_set(np.array([column]))))
    return highest


def gains_of_shuffled(study: Study, columns: HostArray) -> HostArray:
    """What the selected set gains by each of some columns once their rows are shuffled."""
    rng = np.random.default_rng((1, study.n_rows))
    selected = study.varying(study.selected)
    x = np.asarray(study.table.x)
    shuffled = np.array(x[:, columns])
    for j in range(columns.size):
        shuffled[:, j] = rng.permutation(shuffled[:, j])
    problem = study.bind(study.target, table=Table.of(np.hstack([x[:, selected], shuffled])))
    inside = np.arange(selected.size)
    together = study.score(selected)
    with_one = [problem.score_set(np.append(inside, selected.size + j)) for j in range(columns.size)]
    return np.array([max(0.0, float(score)) - together for score in with_one])


def _shuffled(target: Target, rows: HostArray) -> Target:
    values = None if target.values is None else target.values[rows]
    return Target(target.codes[rows], values, target.classes, target.mean, target.scale)
