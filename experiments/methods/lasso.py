"""The lasso with the penalty that leaves k features."""

from experiments.method import Method
from experiments.methods._fitted import by_score
from l1lsmi.baselines import LassoK


def select(X, y, k, task, seed):
    """The k columns with coefficients, the largest first."""
    return by_score(LassoK(k, task=task), X, y)


def skip(problem):
    """As in the paper."""
    return "Lasso works on only binary and regression problems" if problem.n_classes > 2 else None


METHOD = Method(name="lasso", label="Lasso", kind="embedded", select=select, skip=skip, in_paper="Lasso")
