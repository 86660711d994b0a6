"""Mutual information, estimated by a maximum-likelihood density ratio (MLMI)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from l1lsmi._numerics.density_ratio import DensityRatioDraw
from l1lsmi._numerics.grids import MEASURE_WIDTHS
from l1lsmi._numerics.likelihood.draw import LikelihoodDraw
from l1lsmi._numerics.model import Grid
from l1lsmi._numerics.target import Target
from l1lsmi.measures._density_ratio import DensityRatioMeasure


class MutualInformation(DensityRatioMeasure):
    r"""Mutual information between features and a target, in nats.

    .. math:: I = \iint \log\frac{p(x, y)}{p(x)p(y)}\, p(x, y)\,dx\,dy

    It is zero exactly when features and target are independent, and it detects interactions and non-linear
    dependence. The density ratio is fitted directly by maximum likelihood (MLMI), as a constant plus a sum of
    kernels around some of the rows, with non-negative coefficients and a mean of 1 over independent pairs.
    The kernel width is chosen by the likelihood of held-out rows. The fit is a convex problem solved by
    Newton steps, which makes it several times slower than `SquaredMutualInformation`. Features are
    standardised internally.

    Parameters
    ----------
    n_basis : int, default=100
        Number of kernel centres, drawn from the rows.
    centers : {"balanced", "uniform"}, default="balanced"
        "balanced" draws the same number of rows from every class, as far as the classes have enough rows;
        "uniform" draws from all rows with equal probability.
    cv : int, splitter or list of splits, default=5
        Number of folds, stratified for classes; or a splitter, or its splits, whose test parts cover every
        row once (training parts are not used).
    sigma_factors : sequence of float, default=(0.2, 0.5, 1, 2, 5)
        Candidate kernel widths, as multiples of the median distance between (weighted) centres.
    sigmas : sequence of float, default=()
        Further candidate kernel widths, as absolute values.
    target_sigma_factor : float, default=1.0
        For regression, the kernel width of the target, as a multiple of the median distance between its
        values (at most 400 of them).
    score_by : {"cross_validation", "estimate"}, default="cross_validation"
        What ``score`` returns, and what `Ranking`, `Forward`, `Backward` and `Exhaustive` compare sets by:
        ``-cv_score``, which does not grow with the number of features, or the estimate from all rows.
    task : {"auto", "classification", "regression", "survival"}, default="auto"
        "auto" means regression if the target has fractions or more than 20 different whole numbers, and
        classification otherwise. With several targets, the task of each target is decided separately.
        "survival" takes times until an event, some of them censored, as a structured array or as columns
        (time, event), and uses their martingale residuals.
    tails : {"clip", "keep"}, default="clip"
        "clip" clips columns with heavy tails before they are standardised, at three standard deviations of
        the clipped values, and scales down columns in which most values are equal; other columns are not
        changed. "keep" changes no columns.
    random_state : int, RandomState instance or None, default=None
        Seed of the kernel centres and the folds.

    Examples
    --------
    Neither input of an exclusive or is informative alone; together they have all the information about the
    class, log 2.

    >>> import numpy as np
    >>> from l1lsmi.measures import MutualInformation
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(400, 2))
    >>> y = X[:, 0] ^ X[:, 1]
    >>> information = MutualInformation(random_state=0)
    >>> f"{information.score(X[:, :1], y):.2f} {information.score(X, y):.2f}"
    '0.00 0.69'
    """

    offset = 0.0

    def __init__(
        self,
        *,
        n_basis: int = 100,
        centers: str = "balanced",
        cv: Any = 5,
        sigma_factors: Sequence[float] = MEASURE_WIDTHS,
        sigmas: Sequence[float] = (),
        target_sigma_factor: float = 1.0,
        score_by: str = "cross_validation",
        task: str = "auto",
        tails: str = "clip",
        random_state: Any = None,
    ) -> None:
        self.n_basis = n_basis
        self.centers = centers
        self.cv = cv
        self.sigma_factors = sigma_factors
        self.sigmas = sigmas
        self.target_sigma_factor = target_sigma_factor
        self.score_by = score_by
        self.task = task
        self.tails = tails
        self.random_state = random_state

    def _grid(self) -> Grid:
        return Grid(tuple(self.sigma_factors), tuple(self.sigmas), (0.0,))

    def _draw_class(self) -> type[DensityRatioDraw]:
        return LikelihoodDraw

    def _best_loss(self, target: Target) -> float:
        # No features have more information about the classes than their entropy.
        if target.classes is None:
            return -math.inf
        shares = target.class_shares()
        return float(np.sum(shares * np.log(shares)))
