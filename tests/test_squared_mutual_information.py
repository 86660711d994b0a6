"""The estimate against closed forms and against the paper's table of subsets."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold

from l1lsmi.datasets import make_and_or
from l1lsmi.measures import SquaredMutualInformation


def normal_pair(n, correlation, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x[:, None], correlation * x + np.sqrt(1 - correlation**2) * rng.normal(size=n)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.5])
def test_bivariate_normal(correlation):
    # For normals with correlation r the Mehler expansion gives the density ratio's second moment as
    # 1 / (1 - r^2), so SMI = r^2 / (2 (1 - r^2)).
    exact = correlation**2 / (2 * (1 - correlation**2))
    errors = []
    for n in (200, 5000):
        estimates = [
            SquaredMutualInformation(random_state=seed).score(*normal_pair(n, correlation, seed))
            for seed in range(4)
        ]
        errors.append(np.abs(np.array(estimates) - exact).mean())
    assert errors[-1] <= 0.015
    assert errors[-1] <= errors[0]


def test_discrete_variables():
    # SMI = (sum of p(x, y)^2 / (p(x) p(y)) - 1) / 2
    joint = np.array([[0.3, 0.1], [0.05, 0.15], [0.1, 0.3]])
    exact = 0.5 * (joint**2 / np.outer(joint.sum(1), joint.sum(0))).sum() - 0.5
    errors = []
    for n in (200, 20_000):
        estimates = []
        for seed in range(4):
            cell = np.random.default_rng(seed).choice(6, size=n, p=joint.ravel())
            x, y = np.eye(3)[cell // 2], cell % 2
            estimates.append(SquaredMutualInformation(random_state=0).score(x, y))
        errors.append(np.abs(np.array(estimates) - exact).mean())
    assert errors[-1] <= 0.01
    assert errors[-1] <= errors[0]


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_a_target_that_is_known_reaches_the_bound(n_classes):
    # p(y | x) is 0 or 1: SMI = (number of classes - 1) / 2.
    x = np.random.default_rng(0).integers(n_classes, size=(600, 1))
    value = SquaredMutualInformation(random_state=0).score(x, x[:, 0])
    assert value == pytest.approx((n_classes - 1) / 2, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_the_papers_35_subsets(seed):
    X, y = make_and_or(400, random_state=seed)
    scores = {
        subset: SquaredMutualInformation(random_state=seed).score(X[:, subset], y)
        for subset in combinations((0, 1, 2, 3, 7, 8, 9), 4)
    }
    assert len(scores) == 35
    true = scores.pop((0, 1, 2, 3))
    assert 0.47 <= true <= 0.5
    assert true - max(scores.values()) >= 0.05


def test_density_ratio_of_discrete_variables():
    joint = np.array([[0.4, 0.1], [0.1, 0.4]])
    cell = np.random.default_rng(1).choice(4, size=4000, p=joint.ravel())
    estimate = SquaredMutualInformation(random_state=0).estimate((cell // 2)[:, None], cell % 2)
    ratio = estimate.density_ratio([[0], [0], [1], [1]], [0, 1, 0, 1])
    np.testing.assert_allclose(ratio, [1.6, 0.4, 0.4, 1.6], atol=0.1)
    assert estimate.density_ratio([[0]], [7]) == pytest.approx(0.0)  # a class never seen
    assert estimate.alpha.size == estimate.centers.shape[0] == estimate.center_targets.size
    assert -estimate.cv_score - 0.5 == pytest.approx(estimate.value, abs=0.02)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_density_ratio_averages_give_the_estimate_back(task):
    # h'alpha is the mean ratio over the sample, and the paper's estimate is half of it less 1/2.
    X, y = normal_pair(300, 0.6, 0)
    y = (y > 0).astype(int) if task == "classification" else y
    estimate = SquaredMutualInformation(random_state=0).estimate(X, y)
    assert 0.5 * estimate.density_ratio(X, y).mean() - 0.5 == pytest.approx(estimate.value, rel=1e-9)
    assert estimate.sigma > 0
    assert estimate.regularization > 0


def test_scale_and_offset_do_not_matter():
    X, y = make_and_or(200, random_state=0)
    X = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)
    plain = SquaredMutualInformation(random_state=0).score(X, y)
    for scale, offset in ((1e150, 0), (1e-150, 0), (1.0, 1e8)):
        moved = SquaredMutualInformation(random_state=0).score(X * scale + offset, y)
        assert moved == pytest.approx(plain, abs=1e-5)
    X, y = normal_pair(300, 0.6, 0)
    plain = SquaredMutualInformation(random_state=0).score(X, y)
    assert SquaredMutualInformation(random_state=0).score(X, 1e150 * y) == pytest.approx(plain, rel=1e-6)


def test_a_splitter_gives_the_folds():
    X, y = make_and_or(100, random_state=0)
    a = SquaredMutualInformation(cv=KFold(4, shuffle=True, random_state=0), random_state=0).score(X, y)
    b = SquaredMutualInformation(cv=KFold(4, shuffle=True, random_state=1), random_state=0).score(X, y)
    assert a != b


def test_parameters_are_left_alone():
    measure = SquaredMutualInformation(n_basis=20, random_state=0)
    before = measure.get_params()
    measure.score(*make_and_or(60, random_state=0))
    assert measure.get_params() == before
    assert not hasattr(measure, "n_features_in_")
    assert clone(measure).get_params() == before
