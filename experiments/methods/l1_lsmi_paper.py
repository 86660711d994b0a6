"""Algorithm 1 of the paper with the settings of its experiments on real data."""

import math

import numpy as np
from scipy.spatial.distance import pdist

from experiments.method import Method
from experiments.methods._fitted import chosen
from l1lsmi import FeatureSelector
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import L1Paper


def select(X, y, k, task, seed):
    """The k columns with weights."""
    median = median_distance(X)
    measure = SquaredMutualInformation(
        n_basis=100,
        centers="uniform",
        cv=5,
        sigma_factors=(0.5, 1, 2),
        sigmas=(1, 2, median / (5 * math.sqrt(2)), median / math.sqrt(2)),
        regularizations=(1e-3, 1e-2, 1e-1, 1, 10),
        score_by="estimate",
        task=task,
        random_state=seed,
    )
    weighting = L1Paper(n_restarts=20, max_iter=20, max_doublings=15, max_halvings=10)
    return chosen(FeatureSelector(measure, weighting, k), X, y)


def median_distance(X):
    """Median distance between rows, of all columns that vary, standardised."""
    deviations = X.std(axis=0)
    varying = deviations > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300)
    return float(np.median(pdist(X[:, varying] / deviations[varying])))


METHOD = Method(
    name="l1_lsmi_paper", label="l1-LSMI, Algorithm 1", kind="filter", select=select, in_paper="l1-LSMI"
)
