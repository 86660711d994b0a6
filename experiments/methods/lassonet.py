"""LassoNet: a neural network whose inputs are dropped one by one as a penalty on its linear part grows."""

import numpy as np
from sklearn.preprocessing import StandardScaler

from experiments.method import Method

# On standardised data the first columns are dropped at penalties of about 100. LassoNet's search for a first
# penalty takes longer than the path, and its own steps, of 2 per cent, are nine times as many.
FIRST_PENALTY, STEP = 10.0, 1.2


def select(X, y, k, task, seed):
    """The k columns with the largest linear weights in the sparsest network of the path that keeps k or more.

    Other settings are LassoNet's defaults: one hidden layer of 100 units, M = 10, at most 1000 epochs before
    the path and 100 at each penalty, early stopping on a tenth of the rows.
    """
    import torch
    from lassonet import LassoNetClassifier, LassoNetRegressor

    X = StandardScaler().fit_transform(np.asarray(X, dtype=float))
    if task == "classification":
        net, y = LassoNetClassifier, np.unique(y, return_inverse=True)[1]
    else:
        net, y = LassoNetRegressor, (y - y.mean()) / y.std()
    model = net(verbose=0, device="cpu", random_state=seed % 2**32, torch_seed=seed)
    weights = []

    def penalties():
        penalty = FIRST_PENALTY
        # The path ends at the first step with fewer than k columns.
        while model.model.selected_count() >= k:
            yield penalty
            penalty *= STEP

    def note(model, path):
        weights.append(model.model.skip.weight.detach().norm(dim=0).numpy())

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            model.path(X, y, lambda_seq=penalties(), callback=note, disable_lambda_warning=True)
    finally:
        torch.set_num_threads(threads)
    kept = [size for size in weights if np.count_nonzero(size) >= k]
    return np.argsort(-kept[-1], kind="stable")[:k]


METHOD = Method("lassonet", "LassoNet", "embedded", select, needs=("lassonet",))
