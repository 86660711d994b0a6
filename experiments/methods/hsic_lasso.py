"""HSIC Lasso of the package pyHSICLasso."""

import contextlib
import io

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.method import Method


def select(X, y, k, task, seed):
    """The k columns of the non-negative lasso on centred kernels of all rows (B = 0: no blocks).

    The path can end with fewer than k columns; those missing are filled up by the largest HSIC with y.
    Nothing is random without blocks, so the seed is not used. Kernels are one standard deviation wide.
    """
    from pyHSICLasso import HSICLasso

    # It divides by standard deviations alone, in single precision, where large means or constants overflow.
    X, y = StandardScaler().fit_transform(np.asarray(X, dtype=float)), np.asarray(y, dtype=float)
    y = y if task == "classification" else y - y.mean()
    # Two equal columns would make it divide zero by zero, so each is offered once.
    offered = np.sort(np.unique(X, axis=1, return_index=True)[1])
    lasso = HSICLasso()
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(invalid="raise"):
        lasso.input(X[:, offered], y)
        run = lasso.classification if task == "classification" else lasso.regression
        # It needs one column more than it selects.
        run(min(k, len(offered) - 1), B=0, max_neighbors=0, n_jobs=1)
    by_relevance = offered[np.argsort(-np.ravel(lasso.Xty), kind="stable")]
    order = [*offered[lasso.get_index()], *by_relevance, *range(X.shape[1])]
    return list(dict.fromkeys(int(j) for j in order))[:k]


METHOD = Method("hsic_lasso", "HSIC Lasso", "embedded", select, needs=("pyHSICLasso",))
