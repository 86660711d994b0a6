"""
Copies of the same thing
========================

Many tables say the same thing in several columns. A ranking takes all the copies, because each of them scores
well alone. `L1LSMI` asks what a column *adds*.
"""

# %%
# A table with copies
# -------------------
# Three columns make the target: the first has a strong effect, the second a bend, the third a weak effect. Of
# the first two there are six noisy copies each. Fifteen further columns are noise.
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
# What each column says alone
# ---------------------------
# The copies of column 0 stand far above column 2, which matters and has no copies.
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
# What is selected
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
# Why a copy is worth nothing
# ---------------------------
# Squared-loss mutual information of *sets*: beside column 0, its copy adds next to nothing, and column 2
# adds.
from l1lsmi.measures import SquaredMutualInformation

measure = SquaredMutualInformation(random_state=0)
for columns in ([0], [0, 3], [0, 2]):
    print(f"columns {columns!s:<8} {measure.score(X[:, columns], y):.2f}")
