"""
Several methods on the same data
================================

The best method depends on the data. Select features and fit a model on some of the rows, and compare the
errors on held-out rows.
"""

# %%
# The data and the methods
# ------------------------
# All selectors have the same interface, so that a comparison is a loop.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, QPFS, ReliefF
from l1lsmi.evaluation import held_out_error, split_rows
from l1lsmi.measures import HSIC, Pearson
from l1lsmi.strategies import Forward, Ranking

X, y = load_breast_cancer(return_X_y=True)
k = 3
methods = {
    "L1LSMI": L1LSMI(k, random_state=0),
    "L1HSIC": L1HSIC(k, random_state=0),
    "HSIC, forward": FeatureSelector(HSIC(), Forward(), k),
    "Pearson ranking": FeatureSelector(Pearson(), Ranking(), k),
    "MRMR": MRMR(k),
    "QPFS": QPFS(k),
    "ReliefF": ReliefF(k),
}
print(f"{X.shape[0]} rows, {X.shape[1]} features, {np.unique(y).size} classes, {k} features to select")

# %%
# Held-out errors
# ---------------
# There are five splits into 100 training rows and held-out rows. The support vector machine is tuned on the
# training rows.
errors: dict[str, list[float]] = {name: [] for name in methods} | {"all features": []}
for split in range(5):
    train, test = split_rows(y, n_train=100, random_state=split)
    for name in errors:
        columns = np.arange(X.shape[1])
        if name in methods:
            columns = methods[name].fit(X[train], y[train]).get_support(indices=True)
        result = held_out_error(X[train][:, columns], y[train], X[test][:, columns], y[test])
        errors[name].append(result.error)

order = sorted(errors, key=lambda name: np.mean(errors[name]))
for name in order:
    print(f"{name:<16} {np.mean(errors[name]):.3f} +- {np.std(errors[name]):.3f}")

# %%
# Each dot is one split. Five splits do not show a difference between methods whose dots overlap.
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for place, name in enumerate(reversed(order)):
    ax.plot(errors[name], [place] * 5, "o", color="tab:blue", alpha=0.5)
    ax.plot(np.mean(errors[name]), place, "|", color="black", markersize=18)
ax.set(xlabel="error on held-out rows", yticks=range(len(order)), yticklabels=order[::-1])
_ = ax.set_title("breast cancer, 3 of 30 features")

# %%
# Significance
# ------------
# ``compare_methods`` finds the method with the best mean, and tests which others are significantly worse.
from l1lsmi.evaluation import compare_methods

selected_ones = [name for name in order if name in methods]
comparison = compare_methods(np.array([errors[name] for name in selected_ones]).T)
print("best:", selected_ones[comparison.best])
print(
    "not significantly worse:",
    [name for name, tied in zip(selected_ones, comparison.tied, strict=True) if tied],
)
