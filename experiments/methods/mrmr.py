"""Minimum redundancy and maximum relevance by mutual information."""

from experiments.method import Method
from l1lsmi.baselines import MRMR


def select(X, y, k, task, seed):
    """Columns in the order in which they are added."""
    return MRMR(k, task=task).fit(X, y).order_.tolist()


METHOD = Method(name="mrmr", label="mRMR", kind="filter", select=select, in_paper="mRMR", nested=True)
