"""Impurity importance of a random forest."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from experiments.method import Method


def select(X, y, k, task, seed):
    """Columns by the mean decrease in impurity over 500 trees, otherwise as scikit-learn grows them."""
    forest = RandomForestClassifier if task == "classification" else RandomForestRegressor
    fitted = forest(n_estimators=500, n_jobs=1, random_state=seed % 2**32).fit(X, y)
    return np.argsort(-fitted.feature_importances_, kind="stable")[:k]


METHOD = Method("random_forest", "random forest", "embedded", select, nested=True)
