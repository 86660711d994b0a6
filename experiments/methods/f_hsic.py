"""Forward search with HSIC."""

from experiments.method import Method
from experiments.methods._fitted import by_step, too_wide
from l1lsmi import FeatureSelector
from l1lsmi.measures import HSIC
from l1lsmi.strategies import Forward


def select(X, y, k, task, seed):
    """Columns in the order in which they are added."""
    return by_step(FeatureSelector(HSIC(task=task), Forward(), k), X, y)


METHOD = Method(
    name="f_hsic", label="F-HSIC", kind="filter", select=select, in_paper="F-HSIC", nested=True, skip=too_wide
)
