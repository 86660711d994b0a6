"""Ranking by Pearson correlation with the target."""

from experiments.method import Method
from experiments.methods._fitted import by_score
from l1lsmi import FeatureSelector
from l1lsmi.measures import Pearson
from l1lsmi.strategies import Ranking


def select(X, y, k, task, seed):
    """The k columns with the largest correlations."""
    return by_score(FeatureSelector(Pearson(task=task), Ranking(), k), X, y)


METHOD = Method(name="pc", label="PC", kind="filter", select=select, in_paper="PC", nested=True)
