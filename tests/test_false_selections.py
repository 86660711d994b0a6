"""Bounds on the number of false selections."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from l1lsmi.inference import (
    false_selections_bound,
)
from l1lsmi.inference.bounds import bounds_by_threshold, largest_tails


def unimodal_tail(mean, n_steps, position):
    """Largest probability of at least position / n_steps, by linear programming, one mode at a time."""
    steps = np.arange(n_steps + 1) / n_steps
    best = 0.0
    for mode in range(n_steps + 1):
        rises = np.zeros((n_steps, n_steps + 1))
        for i in range(n_steps):
            sign = 1.0 if i < mode else -1.0  # f_i <= f_(i+1) before the mode, >= after it
            rises[i, i], rises[i, i + 1] = sign, -sign
        found = linprog(
            -(np.arange(n_steps + 1) >= position).astype(float),
            A_ub=np.vstack([rises, steps]),
            b_ub=np.append(np.zeros(n_steps), mean),
            A_eq=np.ones((1, n_steps + 1)),
            b_eq=[1.0],
        )
        if found.status == 0:  # with this mode the mean can be as small
            best = max(best, -found.fun)
    return best


@pytest.mark.parametrize("theta", [0.05, 0.2, 0.4])
def test_the_unimodal_bound_is_that_of_linear_programming(theta):
    n_pairs, m = 10, 100
    bounds = bounds_by_threshold(theta * m, m, 2 * n_pairs)
    checked = 0
    for both in range(2, n_pairs + 1):  # at least so many pairs of ten
        bound = bounds[n_pairs + both - 1].unimodal
        if bound < m:
            best = unimodal_tail(theta**2, n_pairs, both)
            # Up to where the thresholds of the closed form are rounded to those that the pairs have.
            assert m * best <= bound * (1 + 1e-9)
            assert m * best >= bound * 0.93
            checked += 1
    assert checked >= 5


def r_concave_tail(mean, n_steps, r, position, rng, n_starts=4):
    """The same for r-concave distributions, by a general optimiser from several starts."""
    best = 0.0
    for first in range(n_steps):
        for last in range(max(position, first + 1), n_steps + 1):
            steps = np.arange(first, last + 1)

            def shares(u):
                f = np.exp(u - u.max())
                return f / f.sum()

            def convexity(u):
                return np.diff(np.exp(r * (u - u.mean())), 2)

            constraints = [{"type": "ineq", "fun": lambda u, s=steps: mean * n_steps - shares(u) @ s}]
            if steps.size > 2:
                constraints.append({"type": "ineq", "fun": convexity})
            for _ in range(n_starts):
                found = minimize(
                    lambda u, s=steps: -shares(u)[s >= position].sum(),
                    -np.sort(rng.exponential(size=steps.size)),
                    constraints=constraints,
                    method="SLSQP",
                    options={"maxiter": 200, "ftol": 1e-12},
                )
                if all(np.min(c["fun"](found.x)) > -1e-7 for c in constraints):
                    best = max(best, -found.fun)
    return best


@pytest.mark.parametrize(("mean", "n_steps", "r"), [(0.1, 4, -0.5), (0.3, 5, -0.25), (0.45, 4, -0.5)])
@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
def test_the_r_concave_bound_is_that_of_an_optimiser(mean, n_steps, r):
    tails = largest_tails(mean, n_steps, r)
    assert tails[0] == 1.0
    rng = np.random.default_rng(0)
    for position in range(1, n_steps + 1):
        assert tails[position] == pytest.approx(r_concave_tail(mean, n_steps, r, position, rng), rel=1e-4)


def test_no_random_r_concave_distribution_is_above_the_bound():
    rng = np.random.default_rng(0)
    steps = np.arange(11) / 10
    for r in (-0.5, -0.25):
        for _ in range(60):
            # A convex function, as the largest of some lines, positive everywhere.
            lines = rng.normal(size=(4, 1)) * 3 * (steps - rng.random((4, 1))) + 0.1
            f = np.maximum(lines.max(axis=0), 0.05) ** (1 / r)
            f /= f.sum()
            tails = np.cumsum(f[::-1])[::-1]
            assert (tails <= largest_tails(f @ steps, 10, r) + 1e-7).all()


def test_bounds_by_hand():
    # q^2 / ((2 t - 1) m) = 100 / (0.8 * 200), and at most q / t and m.
    bound = false_selections_bound(10, 200, threshold=0.9, n_resamples=100)
    assert bound.worst_case == pytest.approx(0.625)
    # 4 (1 - 0.9 + 1/100) / (1 + 1/50) q^2 / m
    assert bound.unimodal == pytest.approx(4 * 0.11 / 1.02 * 0.5)
    assert 0 < bound.r_concave < bound.unimodal and bound.smallest == bound.r_concave
    assert false_selections_bound(10, 200, threshold=0.5).worst_case == pytest.approx(20)
    assert false_selections_bound(200, 200, threshold=0.9).smallest == 200
    assert false_selections_bound(0, 200).smallest == 0
    all_thresholds = [bound.smallest for bound in bounds_by_threshold(10, 200, 50)]
    assert (np.diff(all_thresholds) <= 1e-9).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_selected": 11}, "n_selected=11 must be a number from 0 to n_features=10"),
        ({"n_features": 0}, "n_features=0 must be an integer"),
        ({"threshold": 1.5}, "threshold=1.5 must be"),
        ({"n_resamples": 5}, "n_resamples=5 must be an even integer"),
    ],
)
def test_bad_arguments_of_bounds(arguments, words):
    with pytest.raises(ValueError, match=words):
        false_selections_bound(**{"n_selected": 2, "n_features": 10, **arguments})
