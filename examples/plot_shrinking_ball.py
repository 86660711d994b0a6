"""
The shrinking ball
==================

`L1LSMI` gives each column a weight and decreases the bound on the sum of the weights. The weights become zero
one after the other, until k are left.
"""

# %%
# Why weights become zero
# -----------------------
# An illustration with two weights and a score with its maximum at the star. The weights are constrained to
# the ball :math:`w_0 + w_1 \le r`, which has corners. When the ball is small, the maximum in it is at a
# corner, where one of the weights is exactly zero.
import matplotlib.pyplot as plt
import numpy as np

w0, w1 = np.meshgrid(np.linspace(0, 2, 200), np.linspace(0, 2, 200))
score = -((w0 - 1.4) ** 2) - 0.35 * (w1 - 0.9) ** 2 + 0.15 * w0 * w1
figure, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
ax.contour(w0, w1, score, levels=14, cmap="Greys", linewidths=0.8)
ax.plot(1.4 + 0.1, 0.9 + 0.3, "*", color="goldenrod", markersize=14)
for radius, colour in ((1.8, "tab:blue"), (1.2, "tab:green"), (0.6, "tab:red")):
    best = np.where(w0 + w1 <= radius, score, -np.inf).argmax()
    ax.plot([0, radius], [radius, 0], color=colour, label=f"r = {radius}")
    ax.plot(w0.flat[best], w1.flat[best], "o", color=colour)
    print(f"r = {radius}: best weights {w0.flat[best]:.1f} and {w1.flat[best]:.1f}")
ax.set(xlabel="weight of column 0", ylabel="weight of column 1", aspect="equal")
_ = ax.legend(loc="upper left", framealpha=1)

# %%
# A search path
# -------------
# The target is (column 0 and column 1) or (column 2 and column 3). Columns 7 to 9 are noisy copies of the
# target: each has *more* information alone than any true column. The other 43 columns are random bits.
from l1lsmi import FeatureSelector
from l1lsmi.datasets import make_and_or
from l1lsmi.strategies import L1Path

X, y = make_and_or(400, random_state=0)
X = np.hstack([X, np.random.default_rng(0).integers(0, 2, size=(400, 40))])
strategy = L1Path(terms=False)  # with terms, the search ends before it needs a path
selector = FeatureSelector(strategy=strategy, n_features_to_select=4, random_state=0).fit(X, y)
print("selected", selector.get_support(indices=True))
print(selector.stop_reason_)

# sphinx_gallery_thumbnail_number = 2

# %%
# Each line is the share of a column in the sum of the weights, while the radius decreases from left to right.
# The selected columns have names; the copies are drawn dotted here.
from l1lsmi.explain import path_table
from l1lsmi.plots import SelectionPathDisplay

names = [f"true {j}" if j < 4 else f"column {j}" for j in range(X.shape[1])]
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
display = SelectionPathDisplay.from_estimator(selector, feature_names=names, ax=ax)
for column, line in zip(display.other_columns_, display.other_lines_, strict=True):
    if column in (7, 8, 9):
        line.set(color="black", linestyle=":", linewidth=1.6, label="copy" if column == 7 else None)
_ = ax.legend(loc="upper left", frameon=False)

# %%
# The weights of random columns and copies become zero. In the end only the four true columns have weights.
for step in path_table(selector).steps:
    print(f"radius {step.radius:.3f}: {step.size:>2} columns, score {step.score:.3f}")
