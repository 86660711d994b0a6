"""Algorithm 1 of the paper with HSIC, and the settings of its experiments on real data."""

from experiments.method import Method
from experiments.methods._fitted import chosen
from l1lsmi import FeatureSelector
from l1lsmi.measures import HSIC
from l1lsmi.strategies import L1Paper


def select(X, y, k, task, seed):
    """The k columns with weights."""
    weighting = L1Paper(
        n_restarts=20,
        max_iter=20,
        max_doublings=15,
        max_halvings=10,
        # The width is set to the median distance every five iterations, and at the first.
        first_model_selections=1,
        model_selection_every=5,
    )
    return chosen(FeatureSelector(HSIC(task=task), weighting, k, random_state=seed), X, y)


METHOD = Method(
    name="l1_hsic_paper", label="l1-HSIC, Algorithm 1", kind="filter", select=select, in_paper="l1-HSIC"
)
