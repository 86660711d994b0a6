r"""
What a density ratio shows
==========================

How strongly does a target depend on a column? Compare the rows with rows whose targets were shuffled. Where
the two distributions differ, there is dependence.
"""

# %%
# Original and shuffled rows
# --------------------------
# The target is a quadratic function of the column, with noise. Their correlation is near 0, but the
# dependence is strong.
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
x = rng.normal(size=500)
y = x**2 + 0.5 * rng.normal(size=500)
print(f"correlation {np.corrcoef(x, y)[0, 1]:.2f}")

# %%
# The rows are a sample of :math:`p(x, y)`. Shuffling the targets breaks every dependence, and gives a sample
# of :math:`p(x)\,p(y)`. The *density ratio*
#
# .. math:: r(x, y) = \frac{p(x, y)}{p(x)\,p(y)}
#
# is above 1 where a pair of values is more frequent than under independence. It is 1 everywhere exactly when
# column and target are independent. `SquaredMutualInformation` fits it directly, without the densities: as a
# sum of kernels around some of the rows, by least squares.
from l1lsmi.measures import SquaredMutualInformation

estimate = SquaredMutualInformation(random_state=0).estimate(x[:, None], y)
grid_x, grid_y = np.meshgrid(np.linspace(-3, 3, 120), np.linspace(-1.5, 7, 120))
ratio = estimate.density_ratio(grid_x.reshape(-1, 1), grid_y.ravel()).reshape(grid_x.shape)

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained", sharex=True, sharey=True)
axes[0].scatter(x, y, s=6, color="tab:blue")
axes[0].set(title="rows: p(x, y)", xlabel="column x", ylabel="target y", xlim=(-3, 3), ylim=(-1.5, 7))
axes[1].scatter(x, rng.permutation(y), s=6, color="tab:gray")
axes[1].set(title="targets shuffled: p(x) p(y)", xlabel="column x")
picture = axes[2].pcolormesh(grid_x, grid_y, ratio, cmap="RdBu_r", vmin=-1, vmax=3, rasterized=True)
axes[2].set(title="density ratio, fitted", xlabel="column x")
_ = figure.colorbar(picture, ax=axes[2], label="r(x, y), 1 is independence")

# %%
# Squared-loss mutual information
# -------------------------------
# Squared-loss mutual information is half of the mean squared deviation of the ratio from 1:
#
# .. math:: I_s = \frac12 \iint (r(x, y) - 1)^2\, p(x)\, p(y)\, dx\, dy .
#
# It is 0 for independence. It measures linear and non-linear effects and interactions alike.
noise = SquaredMutualInformation(random_state=0).estimate(rng.normal(size=(500, 1)), y)
print(f"column x         {estimate.value:.2f}")
print(f"a column of noise {noise.value:.2f}")
