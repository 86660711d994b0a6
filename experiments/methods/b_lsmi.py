"""Backward search with squared-loss mutual information."""

from experiments.method import Method
from experiments.methods._fitted import chosen
from l1lsmi import FeatureSelector
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import Backward


def select(X, y, k, task, seed):
    """The k columns that are left."""
    measure = SquaredMutualInformation(task=task, random_state=seed)
    return chosen(FeatureSelector(measure, Backward(), k), X, y)


METHOD = Method(name="b_lsmi", label="B-LSMI", kind="filter", select=select, in_paper="B-LSMI")
