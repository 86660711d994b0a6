"""Boruta: columns that a random forest uses more than shuffled copies of columns."""

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from experiments.method import Method


def select(X, y, k, task, seed):
    """The k best of Boruta's ranking: 30 rounds of 100 trees of depth 5.

    Boruta answers with a set of its own size: confirmed columns have rank 1, tentative ones 2, rejected ones
    follow in the order of their median rank. Within a rank, columns go by their mean importance over the
    rounds that they took part in. (The package's default, 100 rounds of 1000 trees, takes minutes.)
    """
    from boruta import BorutaPy

    forest = RandomForestClassifier if task == "classification" else RandomForestRegressor
    boruta = BorutaPy(
        forest(max_depth=5, n_jobs=1), n_estimators=100, max_iter=30, random_state=seed % 2**32
    ).fit(np.asarray(X, dtype=float), y)
    # The first row of the history is there before any round.
    importance = np.nanmean(boruta.importance_history_[1:], axis=0)
    return np.lexsort((-importance, boruta.ranking_))[:k]


METHOD = Method("boruta", "Boruta", "embedded", select, needs=("boruta",), nested=True)
