import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from l1lsmi._numerics.optimization.l1_ball import project_to_simplex_ball

VECTORS = arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e3, 1e3))
RADII = st.floats(1e-3, 1e3)


@given(VECTORS, RADII)
def test_projection_is_feasible_and_optimal(weights, radius):
    projected = project_to_simplex_ball(weights, radius)
    assert (projected >= 0).all()
    assert projected.sum() <= radius * (1 + 1e-9) + 1e-9
    # Optimality: a projection p of w onto a convex set satisfies (w - p).(q - p) <= 0 for all q in
    # it; the extreme points of this set are 0 and radius times the unit vectors.
    residual = weights - projected
    corners = np.vstack([np.zeros(weights.size), radius * np.eye(weights.size)])
    scale = 1 + np.abs(weights).max() * (radius + np.abs(weights).max())
    assert ((corners - projected) @ residual <= 1e-9 * scale).all()


@given(VECTORS, RADII)
def test_projecting_twice_changes_nothing(weights, radius):
    once = project_to_simplex_ball(weights, radius)
    np.testing.assert_allclose(project_to_simplex_ball(once, radius), once, atol=1e-9 * (1 + radius))


def test_inside_the_ball_only_negatives_are_cut():
    np.testing.assert_array_equal(project_to_simplex_ball(np.array([0.2, -0.5, 0.3]), 1.0), [0.2, 0.0, 0.3])
