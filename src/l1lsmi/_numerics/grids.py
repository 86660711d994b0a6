"""Every grid of kernel widths and regularizations, and where it is used.

Widths are factors of a median distance unless they are said to be absolute.

- `MEASURE_WIDTHS`, `MEASURE_SIGMAS`, `MEASURE_REGULARIZATIONS`: defaults of the measures' parameters, used by
  ``score``, `Ranking`, `Forward`, `Backward`, `Exhaustive` and `L1Paper`.
- `REFINEMENT_STEPS`: steps off the grid of a measure, in ``score`` and the strategies that compare scores.
- `START_NARROWNESS`: widths at which restarts of `L1Path` begin, the default of its parameter ``narrowness``.
- `START_REGULARIZATIONS`: regularizations at which restarts of `L1Path` begin.
- `PATH_REGULARIZATION_RANGE`: lower and upper bound of the regularization during the ascent of `L1Path`.
- `SET_WIDTHS`, `COARSE_SET_WIDTHS`, `SET_REGULARIZATIONS`: the model of the final weights of `L1Path`, and
  sets that are compared by cross-validation, where the measure has no leave-one-out loss.
- `NEAR_WIDTHS`, `NEAR_REGULARIZATIONS`: the model on all rows, near the one that a sample of the rows chose.
- `LOO_WIDTHS`, `LOO_REGULARIZATIONS`, `LOO_TARGET_WIDTH`: the leave-one-out loss, by which `L1Path` compares
  sets of features.
- `SCREENING_REGULARIZATION`: neighbouring sets in `Forward` and `Backward`, before the full score.
"""

from __future__ import annotations

import math

import numpy as np

# -- measures: the candidates of the paper's experiments with artificial data ---------------------
MEASURE_WIDTHS = (0.2, 0.5, 1.0, 2.0, 5.0)
#: Absolute.
MEASURE_SIGMAS = tuple(factor / math.sqrt(2) for factor in MEASURE_WIDTHS)
MEASURE_REGULARIZATIONS = tuple(10.0 ** (-4 + 1.25 * i) for i in range(5))

#: Steps off the grid: half powers of 2 for the width, powers of 10 for the regularization. Many rows support
#: less regularization than any fixed grid has.
WIDTH_STEPS = ((-1, 0), (1, 0))
REFINEMENT_STEPS = ((0, -1), (0, 1), *WIDTH_STEPS)
#: Below this, rounding errors of the Gram matrix are no longer small beside the regularization.
LEAST_REGULARIZATION = 1e-11

# -- the path ------------------------------------------------------------------------------------
#: Squared median distance over squared width, for one restart after the other.
START_NARROWNESS = (8.0, 4.0, 16.0, 2.0)
#: Below this range, wide kernels become polynomials of low degree, which see no interactions.
PATH_REGULARIZATION_RANGE = (1e-3, 10.0)

# -- sets of features, all weights 1, by cross-validation -----------------------------------------
#: The score can have two minima, one of wide kernels that act as polynomials and one of narrow ones: every
#: other width is tried, then the neighbours of the best.
SET_WIDTHS = tuple(2.0 ** (-i / 2) for i in range(-2, 7))
COARSE_SET_WIDTHS = (1, 3, 5, 7)
SET_REGULARIZATIONS = tuple(float(v) for v in np.logspace(-4, 0, 5))
START_REGULARIZATIONS = tuple(r for r in SET_REGULARIZATIONS if r >= PATH_REGULARIZATION_RANGE[0])
#: Factors of the width of a given model.
NEAR_WIDTHS = (math.sqrt(0.5), 1.0, math.sqrt(2.0))
NEAR_REGULARIZATIONS = (1e-6, 1e-5, *SET_REGULARIZATIONS)

# -- sets of features by the leave-one-out loss ---------------------------------------------------
LOO_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
LOO_REGULARIZATIONS = tuple(float(v) for v in np.logspace(-4, 2, 13))
#: Width of the target's kernel.
LOO_TARGET_WIDTH = 2.0

# -- greedy searches -----------------------------------------------------------------------------
#: Neighbouring sets are compared under the model of the present one, with no more regularization than this: a
#: set with little information is regularised until all its neighbours look alike.
SCREENING_REGULARIZATION = 1e-2
