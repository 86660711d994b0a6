"""
Why narrow kernels show interactions
====================================

The search begins with all columns and a narrow kernel. The reason: a wide kernel is approximately a sum over
columns, and only a narrow kernel detects interactions.
"""

# %%
# Near and far neighbours
# -----------------------
# The class is whether two columns have the same sign. Compare a row with its neighbours.
import matplotlib.pyplot as plt
import numpy as np
from l1lsmi.plots import PairDisplay

rng = np.random.default_rng(1)
X = rng.normal(size=(400, 2))
y = X[:, 0] * X[:, 1] > 0
row = np.array([1.0, 1.0])
distance = np.linalg.norm(X - row, axis=1)

figure, ax = plt.subplots(figsize=(5.8, 4.4), layout="constrained")
PairDisplay(*X.T, y, names=("column 0", "column 1"), classes=("other sign", "same sign")).plot(ax)
for width, style in ((0.7, "-"), (2.5, "--")):
    ax.add_patch(plt.Circle(tuple(row), width, fill=False, linestyle=style, linewidth=2))
    print(f"within {width} of the row: {y[distance < width].mean():.0%} are of its class")
_ = ax.set(xlim=(-3, 3.6), ylim=(-3, 3.6), aspect="equal")

# %%
# Near neighbours have the same class. Far neighbours do not: over the whole table the classes are balanced,
# and the interaction averages out.
#
# The kernel
# ----------
# A Gaussian kernel of several columns is a product over columns, with the distance :math:`d_j` of two rows in
# column :math:`j`. When the width :math:`\sigma` is large, the product is approximately a sum:
#
# .. math:: \exp\left(-\sum_j \frac{d_j^2}{2\sigma^2}\right) \approx 1 - \sum_j \frac{d_j^2}{2\sigma^2} .
#
# The sum has no products of two columns, which are needed to represent an interaction.
#
# The gradient
# ------------
# Every column has a weight, and the gradient of the score shows whether the weight should increase. Here are
# the gradients of HSIC, the simplest of the kernel measures, for twelve columns of which two matter. How far
# are the gradients of the two from those of noise columns, in standard deviations of the latter?


def lead(seed, widths):
    """How far the gradients of the two relevant columns exceed those of noise, for every width."""
    Z = np.random.default_rng(seed).normal(size=(300, 12))
    y = Z[:, 0] * Z[:, 1] > 0
    squared = (Z[:, None, :] - Z[None, :, :]) ** 2
    same = np.equal.outer(y, y).astype(float)
    target = same - same.mean(axis=0) - same.mean(axis=1, keepdims=True) + same.mean()
    leads = []
    for width in widths:
        kernel = np.exp(-0.5 * squared.sum(axis=2) / width**2)
        gradients = -np.einsum("ab,abj->j", kernel * target, squared)
        leads.append((gradients[:2].mean() - gradients[2:].mean()) / gradients[2:].std())
    return leads


widths = np.geomspace(0.5, 20, 20)
leads = np.array([lead(seed, widths) for seed in range(5)])
starts = np.sqrt(2 * 12 / np.array([2, 4, 8, 16]))  # about the median distance over root 2, 2, root 8 and 4

figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(widths, leads.T, color="lightsteelblue")
ax.plot(widths, leads.mean(axis=0), color="tab:blue", linewidth=2.5, label="mean of five draws")
ax.vlines(starts, 0, 3, color="tab:green", linewidth=2, label="where restarts begin")
ax.set(xscale="log", xlabel="kernel width, in standard deviations of a column", ylabel="lead over the noise")
ax.set_xticks([0.5, 1, 2, 5, 10, 20], ["0.5", "1", "2", "5", "10", "20"])
_ = ax.legend(frameon=False)

# %%
# Wide kernels, on the right, do not tell the two columns from noise. On the far left, no row has neighbours.
# In between, the gradients of the two columns exceed those of noise by many standard deviations.
