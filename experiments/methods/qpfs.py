"""Quadratic programming feature selection."""

from experiments.method import Method
from experiments.methods._fitted import by_score
from l1lsmi.baselines import QPFS


def select(X, y, k, task, seed):
    """Columns by falling weight."""
    return by_score(QPFS(k, task=task), X, y)


METHOD = Method(name="qpfs", label="QPFS", kind="filter", select=select, in_paper="QPFS", nested=True)
