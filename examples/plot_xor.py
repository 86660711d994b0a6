"""
Columns that matter only together
=================================

Two columns determine the class, and each alone is independent of it. Methods that score one column at a time
cannot find them. `L1LSMI` can, because it begins with all columns.
"""

# %%
# The problem
# -----------
# There are ten columns of random numbers. The class is whether the first two have the same sign.
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 10))
y = X[:, 0] * X[:, 1] > 0

from l1lsmi.plots import PairDisplay

figure, axes = plt.subplots(1, 3, figsize=(9.5, 3), layout="constrained")
classes, names = ("other sign", "same sign"), ("column 0", "column 1")
display = PairDisplay(X[:, 0], X[:, 1], y, names=names, classes=classes).plot(axes[2])
colours = [points.get_facecolor()[0] for points in display.points_]
for column, ax in zip((0, 1), axes, strict=False):
    ax.hist([X[~y, column], X[y, column]], bins=12, color=colours)
    ax.set(title=f"column {column} alone", xlabel=f"column {column}", ylabel="rows")
_ = axes[2].set_title("both together")

# %%
# In each column alone, the two classes have the same distribution. In both together, they do not overlap.
#
# Selected columns
# ----------------
# Every method selects two columns.
from sklearn.feature_selection import SelectKBest, mutual_info_classif

from l1lsmi import L1LSMI, FeatureSelector
from l1lsmi.baselines import MRMR, LassoK
from l1lsmi.measures import Pearson
from l1lsmi.strategies import Ranking

methods = {
    "Pearson ranking": FeatureSelector(Pearson(), Ranking(), 2),
    "mutual information ranking": SelectKBest(lambda X, y: mutual_info_classif(X, y, random_state=0), k=2),
    "MRMR": MRMR(2),
    "LassoK": LassoK(2),
    "L1LSMI": L1LSMI(2, random_state=0),
}
found = {name: method.fit(X, y).get_support(indices=True) for name, method in methods.items()}
for name, columns in found.items():
    print(f"{name:<28}{columns.tolist()}")

# %%
# Rankings select at random, because all columns have similar scores. A measure of *sets* shows the
# difference.
from l1lsmi.measures import SquaredMutualInformation

measure = SquaredMutualInformation(random_state=0)
print(f"column 0 alone  {measure.score(X[:, [0]], y):6.3f}")
print(f"column 1 alone  {measure.score(X[:, [1]], y):6.3f}")
print(f"both together   {measure.score(X[:, [0, 1]], y):6.3f}   (the maximum for two classes is 0.5)")

# %%
# Limits
# ------
# With too many columns of noise, an interaction cannot be found. With 50 rows, the pair is found among 30
# columns, but not among 1000. An interaction is much easier to find where each column also has some effect
# alone: see :ref:`sphx_glr_auto_examples_plot_gene_expression.py`.
for n_columns in (10, 30, 1000):
    X = np.random.default_rng(0).normal(size=(50, n_columns))
    selector = L1LSMI(2, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    print(f"{n_columns:>5} columns: selected {selector.get_support(indices=True).tolist()}")
