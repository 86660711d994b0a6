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
# ``path_`` has every radius with its weights. The radius decreases from left to right, and weights are
# plotted as shares of the radius.
chosen = set(np.flatnonzero(selector.support_))
restart = next(point.restart for point in selector.path_ if set(point.support) == chosen)
points = [point for point in selector.path_ if point.restart == restart]
shares = np.zeros((len(points), X.shape[1]))
for row, point in zip(shares, points, strict=True):
    row[point.support] = point.weights / point.radius

figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
random_bits = [*range(4, 7), *range(10, 50)]
for name, columns, colour in (
    ("random", random_bits, "silver"),
    ("copy", [7, 8, 9], "tab:orange"),
    ("true", range(4), "tab:green"),
):
    lines = ax.plot(shares[:, columns], color=colour, marker="o", markersize=4)
    lines[0].set_label(name)
ax.set_xticks(range(len(points)), [f"{point.radius:.2f}\n{point.size}" for point in points])
ax.set(xlabel="radius, and columns left", ylabel="share of the radius")
_ = ax.legend(loc="upper left", framealpha=1)

# %%
# The weights of random columns and copies become zero. In the end only the four true columns have weights.
for point in points:
    print(f"radius {point.radius:.3f}: {point.size:>2} columns, score {-point.cv_score:.3f}")
