"""The package's default: weights in an l1 ball with squared-loss mutual information."""

from experiments.method import Method
from experiments.methods._fitted import chosen
from l1lsmi import L1LSMI


def select(X, y, k, task, seed):
    """The k columns with weights."""
    return chosen(L1LSMI(k, task=task, p_value=False, random_state=seed), X, y)


METHOD = Method(name="l1_lsmi", label="l1-LSMI", kind="filter", select=select, in_paper="l1-LSMI")
