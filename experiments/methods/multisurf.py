"""MultiSURF: Relief with a neighbourhood of its own size around every row."""

import numpy as np

from experiments.method import Method


def select(X, y, k, task, seed):
    """Columns by their MultiSURF weight; deterministic, so the seed is not used."""
    from skrebate import MultiSURF

    # Left to guess, it takes eleven classes for a number.
    kind = "continuous" if task == "regression" else "binary" if len(np.unique(y)) == 2 else "multiclass"
    fitted = MultiSURF(n_jobs=1, label_type=kind).fit(np.asarray(X, dtype=float), y)
    return np.argsort(-fitted.feature_importances_, kind="stable")[:k]


METHOD = Method("multisurf", "MultiSURF", "filter", select, needs=("skrebate",), nested=True)
