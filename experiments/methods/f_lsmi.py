"""Forward search with squared-loss mutual information."""

from experiments.method import Method
from experiments.methods._fitted import by_step, too_wide
from l1lsmi import FeatureSelector
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import Forward


def select(X, y, k, task, seed):
    """Columns in the order in which they are added."""
    measure = SquaredMutualInformation(task=task, random_state=seed)
    return by_step(FeatureSelector(measure, Forward(), k), X, y)


METHOD = Method(
    name="f_lsmi", label="F-LSMI", kind="filter", select=select, in_paper="F-LSMI", nested=True, skip=too_wide
)
