"""Gain importance of boosted trees (LightGBM)."""

import numpy as np

from experiments.method import Method


def select(X, y, k, task, seed):
    """Columns by the total gain of their splits in 100 rounds of LightGBM with its default settings.

    Columns never split on all have no gain: where k reaches that far, they follow in their own order.
    """
    from lightgbm import LGBMClassifier, LGBMRegressor

    booster = LGBMClassifier if task == "classification" else LGBMRegressor
    fitted = booster(
        importance_type="gain",
        deterministic=True,
        force_row_wise=True,
        n_jobs=1,
        random_state=seed % 2**31,
        verbosity=-1,
    ).fit(np.asarray(X, dtype=float), y)
    return np.argsort(-fitted.feature_importances_, kind="stable")[:k]


METHOD = Method("lightgbm", "LightGBM", "embedded", select, needs=("lightgbm",), nested=True)
