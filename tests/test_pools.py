"""Pools: the columns that a search may choose from, and how unseen rows choose them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import PredefinedSplit

from l1lsmi import L1LSMI
from l1lsmi._numerics.constraints import Constraints
from l1lsmi._numerics.held_out import fit_kernels, predict_unseen, predicted_left_out
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.pool import by_single_effect
from l1lsmi._rows.table import Table
from l1lsmi.datasets import make_xor
from l1lsmi.strategies._pools import set_beyond
from l1lsmi.strategies.selection import Selection, StopReason
from l1lsmi.strategies.validation import narrow_pools, wide_pools


def strongest(X, y, n, k):
    order = by_single_effect(Table.of(X), Target.of_classes(y), np.arange(X.shape[1]), trends=n <= k)
    return order[:n]


def wide(n=60, m=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X[:, 3] + X[:, 7] + 0.5 * rng.normal(size=n)


def weak(seed, n=120, m=30):
    """Four weak single effects among many columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X[:, :4].sum(axis=1) + 2.5 * rng.normal(size=n) > 0


# -- what they have ---------------------------------------------------------------------------


def test_sizes_of_pools():
    assert wide_pools(10_000, 10) == [50, 300, 10_000]
    assert wide_pools(10_000, 100) == [200, 600, 10_000]
    assert wide_pools(150, 10) == [50, 150]
    assert wide_pools(60, 10) == [60]
    assert narrow_pools(33, 4, 33) == [4, 12, 33]
    assert narrow_pools(13, 4, 13) == [4, 13]
    assert narrow_pools(4, 4, 4) == [4]
    assert narrow_pools(40, 2, 10) == [8, 24, 40]  # groups of four columns each


def test_columns_by_single_effect():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    X[:, 5] = 1.0
    y = X[:, 2] + 0.5 * X[:, 6] + 0.1 * rng.normal(size=300)
    target = Target.of_values(y, y.mean(), y.std())
    order = by_single_effect(Table.of(X), target, np.arange(8))
    assert order[:2].tolist() == [2, 6]
    assert order[-1] == 5
    assert sorted(order) == list(range(8))
    y = X[:, 2] ** 2 + 0.5 * X[:, 6] + 0.1 * rng.normal(size=300)
    target = Target.of_values(y, y.mean(), y.std())
    assert by_single_effect(Table.of(X), target, np.arange(8))[0] == 2
    assert by_single_effect(Table.of(X), target, np.arange(8), trends=True)[0] == 6


def test_sets_beyond_the_search_go_on_in_its_order_and_are_allowed():
    order = np.array([4, 1, 0, 3, 2, 5])
    support = np.isin(np.arange(6), [1, 4])
    selection = Selection(support, np.ones(6, dtype=int), 0.0, (), "", order=order)
    columns = np.array([0, 1, 2, 4, 5])
    assert set_beyond(selection, 4, columns, None).tolist() == [4, 1, 0, 2]
    assert set_beyond(selection, 9, columns, None).tolist() == [4, 1, 0, 2, 5]
    # Two units of two columns each, of which one at most is in a set, and a covariate.
    limited = Constraints.of(
        6, [[0, 3], [1], [2, 5], [4]], group_of=np.array([1, 0, 1, 0]), most_of=np.array([2, 1])
    ).beside(1)
    with_covariate = replace(selection, order=np.append(order, 6), support=np.append(support, False))
    found = set_beyond(with_covariate, 4, np.arange(7), limited)
    assert found.tolist() == [4, 1, 0, 3, 6]
    cheap = Constraints.of(6, costs=np.array([5.0, 1, 1, 1, 1, 1]), budget=4.0)
    assert set_beyond(selection, 6, np.arange(6), cheap).tolist() == [4, 1, 3, 2]


# -- where columns outnumber rows -------------------------------------------------------------


def test_unseen_rows_choose_the_pool_of_a_wide_table():
    X, y = wide()
    selector = L1LSMI(2, n_restarts=2).fit(X, y)
    found = selector.validation_
    assert found.pool.tolist() == [50, 200]
    # Of pools that predict as well, the largest.
    best = found.pool[found.pool_mean == found.pool_mean.max()]
    assert selector.pool_size_ == found.best_pool == best.max()
    assert selector.get_support(indices=True).tolist() == [3, 7]


def test_a_pool_restricts_the_search():
    X, y = wide()
    codes = y > np.median(y)
    selector = L1LSMI(5, pool=20, n_restarts=1).fit(X, codes)
    assert set(selector.get_support(indices=True)) <= set(strongest(X, codes, 20, 5))
    assert selector.pool_size_ == 20
    assert L1LSMI(5, pool=None, n_restarts=1, p_value=False).fit(X, y).validation_ is None
    with pytest.raises(ValueError, match="pool=3 has fewer columns than the 5 features"):
        L1LSMI(5, pool=3).fit(X, y)
    with pytest.raises(ValueError, match="'pool' parameter"):
        L1LSMI(5, pool="all").fit(X, y)


# -- where rows outnumber columns -------------------------------------------------------------


def test_few_rows_with_weak_effects_choose_a_small_pool():
    chosen = []
    for seed in range(5):
        X, y = weak(seed)
        selector = L1LSMI(4, n_restarts=2).fit(X, y)
        found = selector.validation_
        assert found.pool.tolist() == [4, 12, 30]
        assert selector.pool_size_ == found.best_pool
        assert set(selector.get_support(indices=True)) <= set(strongest(X, y, selector.pool_size_, 4))
        assert found.mean[-1] == found.pool_mean[found.pool == found.best_pool]
        chosen.append(selector.pool_size_)
    assert sorted(chosen)[2] < 30


def test_features_that_act_only_together_are_not_lost_to_a_small_pool():
    for seed in range(5):
        X, y = make_xor(150, random_state=seed)
        selector = L1LSMI(2).fit(X, y)
        assert selector.get_support(indices=True).tolist() == [0, 1]


def test_a_number_that_is_chosen_gives_the_set_of_that_number():
    X, y = weak(1, n=300, m=12)
    chosen = L1LSMI("auto").fit(X, y)
    given = L1LSMI(int(chosen.support_.sum())).fit(X, y)
    assert np.array_equal(chosen.support_, given.support_) and chosen.pool_size_ == given.pool_size_
    assert chosen.validation_.pool.tolist() == given.validation_.pool.tolist()
    assert np.array_equal(chosen.frequency_, given.frequency_)


def test_the_order_goes_on_beyond_the_pool_by_single_effects():
    X, y = weak(0)
    selector = L1LSMI(4, pool=4, p_value=False).fit(X, y)
    by_effect = by_single_effect(Table.of(X), Target.of_classes(y), np.arange(30), trends=True)
    assert selector.stop_reason_ == StopReason.WHOLE_POOL
    assert set(selector.order_[:4]) == set(by_effect[:4]) == set(selector.get_support(indices=True))
    assert selector.order_[4:].tolist() == by_effect[4:].tolist()
    assert selector.ranking_[by_effect[4:]].tolist() == list(range(2, 28))
    assert selector.support_for(6)[by_effect[:6]].all()


def test_folds_that_are_given_choose_among_all_columns():
    X, y = weak(0)
    folds = PredefinedSplit(np.arange(120) % 5)
    assert L1LSMI(4, cv=folds, n_restarts=1, p_value=False).fit(X, y).pool_size_ == 30


@pytest.mark.parametrize("weighted", [False, True])
def test_the_share_predicted_in_rows_left_out(weighted):
    rng = np.random.default_rng(0)
    x, functions = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    functions[:, 0] += x[:, 0]
    weights = rng.integers(1, 4, 30).astype(float) if weighted else None
    w = np.ones(30) if weights is None else weights
    centred = functions - w @ functions / w.sum()
    total = w @ (centred**2).sum(axis=1)
    fit = fit_kernels(x, functions, weights)
    assert predicted_left_out(x, functions, weights) == pytest.approx(1 - fit.error / total)
    assert predicted_left_out(x[:, :0], functions, weights) == 0
    blocks = np.arange(30) % 3
    lost = 0.0
    for block in range(3):
        out = blocks == block
        predicted = predict_unseen(x[~out], functions[~out], x[out], w[~out])
        lost += (w[out][:, None] * (functions[out] - predicted) ** 2).sum()
    assert predicted_left_out(x, functions, weights, blocks) == pytest.approx(1 - lost / total)


def test_groups_are_left_out_together():
    # Column 1 tells groups apart, each of one class: nothing is known of a group that is left out.
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(16), 10)
    functions = (rng.permutation(np.arange(16) % 2)[group] * 2.0 - 1)[:, None]
    x = group[:, None] + 0.1 * rng.normal(size=(160, 1))
    assert predicted_left_out(x, functions) > 0.9
    assert predicted_left_out(x, functions, block_of_row=group % 8) < 0.3
