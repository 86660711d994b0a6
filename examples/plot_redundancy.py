"""
Redundant columns
=================

Many tables have several columns with the same information. A ranking selects all of them, because each has a
high score alone. `L1LSMI` scores sets, in which a copy *adds* nothing.
"""

# %%
# A table with copies
# -------------------
# The target depends on three columns: the first has a strong linear effect, the second a quadratic effect,
# the third a weak linear effect. There are six noisy copies of each of the first two, and fifteen columns of
# noise.
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
n = 300
true = rng.normal(size=(n, 3))
y = 2 * true[:, 0] + 1.5 * true[:, 1] ** 2 + true[:, 2] + 0.3 * rng.normal(size=n)
copies = np.repeat(true[:, :2], 6, axis=1) + 0.4 * rng.normal(size=(n, 12))
X = np.hstack([true, copies, rng.normal(size=(n, 15))])
kinds = ["true"] * 3 + ["copy of column 0"] * 6 + ["copy of column 1"] * 6 + ["noise"] * 15

# %%
# Each column alone
# -----------------
# The copies of column 0 score far higher than column 2, which matters and has no copies.
from l1lsmi.measures import HSIC

alone = HSIC().score_each(X, y)
colours = {
    "true": "tab:green",
    "copy of column 0": "tab:orange",
    "copy of column 1": "goldenrod",
    "noise": "silver",
}
figure, ax = plt.subplots(figsize=(9, 3.2), layout="constrained")
for kind, colour in colours.items():
    where = [column for column, this in enumerate(kinds) if this == kind]
    ax.bar(where, alone[where], color=colour, label=kind)
ax.set(xlabel="column", ylabel="HSIC with the target", title="each column alone")
_ = ax.legend(frameon=False)

# %%
# Selected columns
# ----------------
from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR
from l1lsmi.strategies import Ranking

methods = {
    "HSIC ranking": FeatureSelector(HSIC(), Ranking(), 3),
    "MRMR": MRMR(3),
    "L1LSMI": L1LSMI(3, random_state=0),
}
for name, method in methods.items():
    chosen = method.fit(X, y).get_support(indices=True)
    print(f"{name:<14}" + ", ".join(f"{column} ({kinds[column]})" for column in chosen))

# %%
# Why copies are not selected
# ---------------------------
# Squared-loss mutual information of *sets*: a copy adds almost nothing to column 0, but column 2 does.
from l1lsmi.measures import SquaredMutualInformation

measure = SquaredMutualInformation(random_state=0)
for columns in ([0], [0, 3], [0, 2]):
    print(f"columns {columns!s:<8} {measure.score(X[:, columns], y):.2f}")

# %%
# The plots show how strongly selected columns depend on each other. High values mean redundant columns.
from l1lsmi.plots import RedundancyDisplay

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, name in zip(axes, ("HSIC ranking", "L1LSMI"), strict=True):
    RedundancyDisplay.from_estimator(methods[name], X, y, ax=ax)
    ax.set_title(f"selected by {name}")
