"""Backward search with HSIC."""

from experiments.method import Method
from experiments.methods._fitted import chosen
from l1lsmi import FeatureSelector
from l1lsmi.measures import HSIC
from l1lsmi.strategies import Backward


def select(X, y, k, task, seed):
    """The k columns that are left."""
    return chosen(FeatureSelector(HSIC(task=task), Backward(), k), X, y)


METHOD = Method(name="b_hsic", label="B-HSIC", kind="filter", select=select, in_paper="B-HSIC")
