"""Weights in an l1 ball with HSIC: the package's own search."""

from experiments.method import Method
from experiments.methods._fitted import chosen
from l1lsmi import L1HSIC


def select(X, y, k, task, seed):
    """The k columns with weights."""
    return chosen(L1HSIC(k, task=task, random_state=seed), X, y)


METHOD = Method(name="l1_hsic", label="l1-HSIC", kind="filter", select=select, in_paper="l1-HSIC")
