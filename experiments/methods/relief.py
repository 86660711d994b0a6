"""ReliefF."""

from experiments.method import Method
from experiments.methods._fitted import by_score
from l1lsmi.baselines import ReliefF


def select(X, y, k, task, seed):
    """Columns by falling score."""
    return by_score(ReliefF(k, task=task), X, y)


METHOD = Method(name="relief", label="Relief", kind="filter", select=select, in_paper="Relief", nested=True)
