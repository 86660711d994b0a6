"""What scores are worth where there is nothing to be found."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._numerics.correlation import correlation_with_target
from l1lsmi._numerics.ranking import best_first
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import Table
from l1lsmi.explain._study import Study
from l1lsmi.measures import HSIC

#: Features that HSIC looks at; of more, those that correlate most with the target, straight or squared.
MOST_BY_HSIC = 40
#: Columns that are standardised at a time.
PART = 1000
#: Shuffles, and features that are taken from each.
N_SHUFFLES = 5
N_TAKEN = 2
#: Features of the set that are doubled to see what a copy seems to add.
N_DOUBLED = 10


def strongest_alone(study: Study, columns: HostArray, target: Target | None = None) -> HostArray:
    """Columns by what a quick look says of each, strongest first: correlation, then HSIC."""
    target = study.target if target is None else target
    if columns.size > MOST_BY_HSIC:
        parts = [columns[start : start + PART] for start in range(0, columns.size, PART)]
        strength = np.concatenate([_correlation(study, part, target) for part in parts])
        columns = columns[best_first(strength)[:MOST_BY_HSIC]]
    quick = np.asarray(study.bind(target, HSIC()).score_each(columns))
    return columns[best_first(quick)]


def chance_levels(study: Study, core: HostArray) -> tuple[float, float]:
    """What features that mean nothing reach: alone, and as a gain of a set.

    The rows of the features are shuffled against the target, and the strongest are looked for anew in
    every shuffle, as they are in the data: the best of many features that say nothing seems to say
    something. Gains are those by such features, and those by second copies of features of the set, which
    add no information but change how much each feature weighs in the kernels.

    Parameters
    ----------
    study : Study
    core : numpy.ndarray of int
        The set.

    Returns
    -------
    alone, gain : float
        The highest of each; at least 0.
    """
    x = np.asarray(study.table.x)
    fakes = _fakes(study, x)
    doubled = core[best_first(study.alone(core))[:N_DOUBLED]]
    problem = study.bind(study.target, table=Table.of(np.hstack([x[:, core], fakes, x[:, doubled]])))
    inside, added = np.arange(core.size), core.size + np.arange(fakes.shape[1] + doubled.size)
    together = study.score(core)
    gains = [float(problem.score_set(np.append(inside, j))) - together for j in added]
    alone = [float(problem.score_set(np.array([j]))) for j in added[: fakes.shape[1]]]
    return max(0.0, *alone), max(0.0, *gains)


def _fakes(study: Study, x: HostArray) -> HostArray:
    """Shuffled columns, the strongest of each shuffle."""
    rng = np.random.default_rng(study.seed)
    fakes = []
    for _ in range(N_SHUFFLES):
        rows = rng.permutation(study.n_rows)
        for column in strongest_alone(study, study.table.varying, _shuffled(study.target, rows))[:N_TAKEN]:
            fake = np.empty(study.n_rows)
            fake[rows] = x[:, column]  # beside the true target it is what the column is beside the shuffled
            fakes.append(fake)
    return np.column_stack(fakes)


def _shuffled(target: Target, rows: HostArray) -> Target:
    values = None if target.values is None else target.values[rows]
    return Target(target.codes[rows], values, target.classes, target.mean, target.scale)


def _correlation(study: Study, columns: HostArray, target: Target) -> HostArray:
    """Absolute correlation with the target of every column or its square, whichever is higher."""
    rows = np.arange(study.n_rows)
    z = np.asarray(study.table.take(rows, columns))
    squares = Table.of(z * z).take(rows, np.arange(columns.size))
    return np.maximum(correlation_with_target(z, target), correlation_with_target(squares, target))
