"""Scores of a set of features, and errors of support vector machines on it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, SVR

from l1lsmi._validation.parameters import seed_of
from l1lsmi.evaluation import (
    _grid_search,
    _svm,
    f_measure,
    held_out_error,
    redundancy_rate,
    split_rows,
    svm_error,
)
from l1lsmi.evaluation._folds import fold_rows

from .conftest import problem_data

COLUMNS = st.lists(st.integers(0, 9), min_size=1, max_size=8, unique=True)


# -- scores of a set ------------------------------------------------------------------------------


def test_f_measure_by_hand():
    # Precision 2/4 and recall 2/3: 2 * (1/2 * 2/3) / (1/2 + 2/3) = 4/7.
    assert f_measure([4, 0, 1, 9], (0, 1, 2)) == pytest.approx(4 / 7)
    assert f_measure(np.array([3, 2]), range(2, 4)) == 1.0
    assert f_measure([5], [6]) == 0.0


@given(COLUMNS, COLUMNS, st.randoms())
def test_f_measure_is_symmetric_and_does_not_depend_on_the_order(selected, true, random):
    value = f_measure(selected, true)
    shuffled = random.sample(selected, len(selected))
    assert 0 <= value <= 1
    assert value == f_measure(shuffled, true) == f_measure(true, selected)
    assert (value == 1) == (set(selected) == set(true))


def test_redundancy_by_hand():
    # Correlations of the three columns: 1 between 0 and 1, and 0.5 of either with 2 (in absolute value):
    # sum of products (-1)(1) + 0 + (1)(0) = -1 over the root of 2 * 2.
    X = np.array([[-1.0, 2.0, 1.0], [0.0, 0.0, -1.0], [1.0, -2.0, 0.0]])
    assert redundancy_rate(X, [0, 2]) == pytest.approx(0.5)
    assert redundancy_rate(X, [2, 1, 0]) == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert redundancy_rate(X, [1]) == 0.0
    assert redundancy_rate(np.column_stack([X, np.ones(3)]), [0, 3]) == 0.0


@given(hnp.arrays(float, (7, 3), elements=st.floats(-1e6, 1e6).map(lambda x: round(x, 3))))
def test_redundancy_is_between_0_and_1_and_1_for_duplicates(X):
    assert 0 <= redundancy_rate(X, [0, 1, 2]) <= 1
    if np.ptp(X[:, 0]) > 0:
        assert redundancy_rate(np.column_stack([X, 5 - 3 * X[:, 0]]), [0, 3]) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("bad", [[], 3, "01", [0.5], [True], None])
def test_column_numbers_are_checked(bad):
    with pytest.raises(ValueError, match=r"selected=.* must be one or more column numbers"):
        f_measure(bad, [0])
    with pytest.raises(ValueError, match=r"selected=.* must be one or more column numbers"):
        redundancy_rate(np.eye(3), bad)


@pytest.mark.parametrize("bad", [[0, 3], [-1, 0], [0, 0]])
def test_columns_must_exist(bad):
    with pytest.raises(ValueError, match="distinct column numbers from 0 to 2"):
        redundancy_rate(np.eye(3), bad)


# -- the grid ---------------------------------------------------------------------------------------


def plain_losses(X, y, folds, is_classification):
    """Losses of an exhaustive search, by C, width and fold."""
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((z[:, None] - z) ** 2).sum(axis=2)
    median = np.median(np.sqrt(squares[np.triu_indices(y.size, 1)]))
    losses = np.empty((8, 5, folds.max() + 1))
    for c, power in enumerate(range(-3, 5)):
        for width, factor in enumerate((0.2, 0.5, 1, 2, 5)):
            kernel = np.exp(-squares / (2 * (factor * median) ** 2))
            for fold in range(folds.max() + 1):
                train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
                settings = {"C": 10.0**power, "kernel": "precomputed", "max_iter": _svm.MAX_ITERATIONS}
                svm = SVC(**settings) if is_classification else SVR(epsilon=0.1, **settings)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    svm.fit(kernel[np.ix_(train, train)], y[train])
                predicted = svm.predict(kernel[np.ix_(test, train)])
                wrong = predicted != y[test] if is_classification else (predicted - y[test]) ** 2
                losses[c, width, fold] = wrong.sum()
    return losses


def noisy(classes, n, seed, levels=None):
    """Two informative columns and one of noise; with few levels, many rows are the same."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) if levels is None else rng.integers(levels, size=(n, 3)).astype(float)
    signal = X[:, 0] * X[:, 1] + 0.5 * X[:, 0] + 0.7 * rng.normal(size=n)
    if classes is None:
        return X, 3 * signal
    return X, np.digitize(signal, np.quantile(signal, np.arange(1, classes) / classes))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("classes", "levels"), [(2, None), (2, 3), (4, None), (9, None), (None, None)])
def test_search_finds_the_best_cell_of_the_grid(classes, levels, seed, monkeypatch):
    monkeypatch.setattr(_svm, "MAX_ITERATIONS", 2000)
    X, y = noisy(classes, 83, seed, levels)
    codes = y if classes else np.zeros(83, dtype=int)
    folds = fold_rows(codes, None, 5, np.random.default_rng(seed_of(seed)))
    totals = plain_losses(X, y, folds, classes is not None).sum(axis=2)
    found = svm_error(X, y, random_state=seed)
    least = totals.min() / 83 if classes else np.sqrt(totals.min() / 83)
    assert found.error == pytest.approx(least, rel=1e-12)
    # Of equal cells: smallest C, then largest width.
    c, width = max(
        np.argwhere(totals <= totals.min() * (1 + 1e-12)).tolist(), key=lambda cell: (-cell[0], cell[1])
    )
    assert (found.C, found.sigma_factor) == (10.0 ** (c - 3), (0.2, 0.5, 1, 2, 5)[width])
    assert found.n_fits + found.n_skipped == 200
    assert found.n_skipped > 0


def test_few_fits_are_needed_if_one_cell_has_no_error():
    rng = np.random.default_rng(0)
    x = rng.choice([-1.0, 1.0], size=(120, 2)) + 0.05 * rng.normal(size=(120, 2))
    found = svm_error(x, (x[:, 0] * x[:, 1] > 0).astype(int))
    assert found.error == 0
    # The first cell with all folds evaluated and no error ends the search.
    assert found.n_fits < 70


def test_equal_rows_give_a_lower_bound_of_the_loss():
    X, y = noisy(3, 60, 0, levels=2)
    folds = np.arange(60) % 3
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    for target in (y, y * 1.5):
        problem = _grid_search.Problem(squares, 1.0, target, folds)
        losses = plain_losses(X, target, folds, target is y)
        for fold in range(3):
            bound = _grid_search.loss_bound(problem, fold)
            assert 0 < bound <= losses[:, :, fold].min()
    # Three equal rows and another: labels 0, 0, 1 give one error, values 0, 0, 3 give 1 + 1 + 4.
    squares = np.array([[0.0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 1], [1, 1, 1, 0]])
    one_fold = np.zeros(4, dtype=int)
    assert (
        _grid_search.loss_bound(_grid_search.Problem(squares, 1.0, np.array([0, 0, 1, 0]), one_fold), 0) == 1
    )
    values = _grid_search.Problem(squares, 1.0, np.array([0.0, 0.0, 3.0, 9.0]), one_fold)
    assert _grid_search.loss_bound(values, 0) == pytest.approx(6)


def test_nothing_is_printed(capfd):
    svm_error(*noisy(2, 40, 0))
    out, err = capfd.readouterr()
    assert out == err == ""


# -- the two protocols ------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 99), st.sampled_from([1e-6, 0.25, 8.0, 1e6]), st.integers(-4, 4))
def test_scale_and_shift_of_columns_do_not_matter(seed, scale, shift):
    X, y = noisy(2, 40, seed)
    moved = svm_error(X * [scale, 1, 1] + [0, shift, 0], y)
    # Rounding may change the prediction of one row at the decision boundary.
    assert moved.error == pytest.approx(svm_error(X, y).error, abs=1.01 / 40)


def test_folds_depend_on_random_state():
    X, y = noisy(2, 80, 0)
    results = {svm_error(X, y, random_state=seed).error for seed in range(5)}
    assert len(results) > 1
    assert svm_error(X, y, random_state=3) == svm_error(X, y, random_state=3)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_informative_features_have_the_smaller_error(task):
    X, y = problem_data(task)
    assert svm_error(X[:, :3], y).error < 0.7 * svm_error(X[:, 3:], y).error
    half = slice(None, None, 2), slice(1, None, 2)
    good, bad = (
        held_out_error(X[half[0], some], y[half[0]], X[half[1], some], y[half[1]]).error
        for some in (slice(0, 3), slice(3, 6))
    )
    assert good < 0.8 * bad


def test_labels_of_any_kind_and_rare_classes():
    X, y = noisy(2, 40, 0)
    words = np.where(y == 1, "yes", "no").astype(object)
    assert svm_error(X, words) == svm_error(X, y)
    words[0] = "maybe"  # not in the training rows of its fold, so always wrong
    assert svm_error(X, words).error >= 1 / 40


def test_training_rows_of_one_class_predict_it():
    # Groups of one class each: the training rows have one class, the held-out rows the other.
    X, y = noisy(2, 30, 0)
    assert svm_error(X, y, groups=y).error == 1.0


def test_columns_that_do_not_vary_are_left_out():
    X, y = noisy(2, 60, 0)
    with_constant = np.column_stack([X, np.full(60, 7.0)])
    assert svm_error(with_constant, y) == svm_error(X, y)
    other = np.column_stack([X, np.arange(60.0)])  # constant in the training rows
    expected = held_out_error(X, y, X, y)
    assert held_out_error(with_constant, y, other, y) == expected
    # Without any feature that varies, the most frequent class is predicted.
    y = (np.arange(60) % 3 == 0).astype(int)
    assert svm_error(np.ones((60, 2)), y).error == pytest.approx(1 / 3)
    assert held_out_error(np.ones((60, 2)), y, np.zeros((3, 2)), [0, 1, 1]).error == pytest.approx(2 / 3)


def test_held_out_error_uses_only_the_training_rows():
    X, y = problem_data("regression", n=90)
    train, test = np.arange(60), np.arange(60, 90)
    found = held_out_error(X[train], y[train], X[test], y[test])
    # The same with the hyperparameters chosen by cross-validation on the training rows.
    chosen = svm_error(X[train], y[train])
    assert (found.C, found.sigma_factor) == (chosen.C, chosen.sigma_factor)
    z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    squares = ((z[:, None] - z) ** 2).sum(axis=2)
    median = np.median(np.sqrt(squares[np.ix_(train, train)][np.triu_indices(60, 1)]))
    gamma = 1 / (2 * (found.sigma_factor * median) ** 2)
    svm = SVR(C=found.C, gamma=gamma, epsilon=0.1).fit(z[train], y[train])
    expected = np.sqrt(np.mean((svm.predict(z[test]) - y[test]) ** 2))
    assert found.error == pytest.approx(expected, rel=1e-3)
    assert found.n_fits == chosen.n_fits + 1
    # Given hyperparameters are used without a search.
    known = held_out_error(X[train], y[train], X[test], y[test], chosen=chosen)
    assert (known.error, known.C, known.n_fits) == (found.error, found.C, 1)
    # The predictions of test rows do not depend on one another.
    one_by_one = [held_out_error(X[train], y[train], X[[i]], y[[i]]).error for i in test[:4]]
    in_one_batch = held_out_error(X[train], y[train], X[test[:4]], y[test[:4]]).error
    assert np.sqrt(np.mean(np.square(one_by_one))) == pytest.approx(in_one_batch)


def test_a_class_without_training_rows_is_an_error():
    X, y = noisy(2, 60, 0)
    assert held_out_error(X, y, X[:4], [7, 7, 7, 7]).error == 1.0


def test_target_within_the_tube_is_predicted_by_its_midpoint():
    X, _ = noisy(None, 20, 0)
    y = np.where(np.arange(20) < 10, 5.0, 5.1)
    assert svm_error(X, y, task="regression").error == pytest.approx(0.05)


# -- folds and splits -------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.integers(2, 12), st.integers(2, 6), st.integers(1, 4), st.integers(0, 2**31))
def test_groups_are_not_split(n_groups, n_folds, n_classes, seed):
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(n_groups), rng.integers(n_groups, size=50)])
    codes = rng.integers(n_classes, size=groups.size)
    folds = fold_rows(codes, groups, n_folds, rng)
    assert all(np.unique(folds[groups == group]).size == 1 for group in range(n_groups))
    assert np.unique(folds).tolist() == list(range(min(n_folds, n_groups)))
    y = np.append(codes, [0, 1])
    train, test = split_rows(y, groups=np.append(groups, [0, 1]), random_state=seed % 1000)
    of_row = np.append(groups, [0, 1])
    assert set(of_row[train]).isdisjoint(of_row[test])
    assert train.size + test.size == y.size and min(train.size, test.size) > 0


def test_a_single_group_is_ignored():
    X, y = noisy(2, 40, 0)
    assert svm_error(X, y, groups=np.ones(40)) == svm_error(X, y)


def test_groups_of_one_class_each_are_drawn_per_class():
    # As molecules are: 10 groups of each class, 6 rows each.
    groups = np.repeat(np.arange(20), 6)
    y = (groups < 10).astype(int)
    _, test = split_rows(y, groups=groups)
    assert [np.unique(groups[test][y[test] == c]).size for c in (0, 1)] == [3, 3]
    folds = fold_rows(y, groups, 5, np.random.default_rng(0))
    for fold in range(5):
        assert np.bincount(y[folds == fold]).tolist() == [12, 12]


def test_one_of_four_groups_is_the_test_set():
    groups, y = np.repeat(np.arange(4), 52), np.tile(np.arange(26), 8)
    splits = [
        split_rows(y, n_train=104, groups=groups, task="classification", random_state=s) for s in range(8)
    ]
    for train, test in splits:
        assert test.size == 52 and np.unique(groups[test]).size == 1
        assert np.bincount(y[train], minlength=26).tolist() == [4] * 26
    assert len({int(groups[test[0]]) for _, test in splits}) > 1


def test_splits_are_stratified():
    y = np.repeat([0, 1, 2], [60, 38, 2])
    train, test = split_rows(y, n_train=50)
    assert np.bincount(y[train]).tolist() == [30, 19, 1]
    assert np.array_equal(np.sort(np.append(train, test)), np.arange(100))
    assert np.unique(y[split_rows(y, n_train=3)[0]]).tolist() == [0, 1, 2]
    assert split_rows(y)[0].size == 70
    train, test = split_rows(np.linspace(0, 1, 30), n_train=20, random_state=1)
    assert (train.size, test.size) == (20, 10)
    assert not np.array_equal(train, split_rows(np.linspace(0, 1, 30), n_train=20, random_state=2)[0])


def test_the_only_group_of_a_class_is_in_the_training_rows():
    groups = np.repeat(np.arange(5), 4)
    y = (groups == 2).astype(int)
    for seed in range(10):
        assert 2 not in groups[split_rows(y, groups=groups, random_state=seed)[1]]
    # If every class has one group, one of them is the test set.
    train, test = split_rows(groups[:12], groups=groups[:12])
    assert (train.size, test.size) == (8, 4)


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y": None}, "y is None: pass one label"),
        ({"y": np.zeros(9)}, "inconsistent numbers of samples|one class only"),
        ({"y": np.zeros(30, dtype=int)}, "one class only"),
        ({"X": np.full((30, 2), np.inf)}, "contains infinity"),
        ({"X": np.zeros(30)}, "X"),
        ({"task": "ranking"}, "task='ranking' is not known: pass one of 'auto'"),
        ({"cv": 1}, "cv=1 must be an integer from 2 to 30, the number of rows"),
        ({"cv": 31}, "cv=31 must be"),
        ({"cv": 2.5}, r"cv=2\.5 must be"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\), but there are 30 rows"),
        ({"random_state": "seed"}, "random_state='seed' cannot be used"),
    ],
)
def test_bad_input_is_refused(change, words):
    X, y = noisy(2, 30, 0)
    arguments = {"X": X, "y": y, **change}
    with pytest.raises(ValueError, match=words):
        svm_error(**arguments)


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.zeros((4, 2)), np.zeros(4), "X_test has shape .*: pass 3 features"),
        (np.zeros((4, 3)), np.zeros(5), "one target per row"),
        (np.full((4, 3), np.inf), np.zeros(4), "contains infinity"),
        (np.zeros((4, 3)), [0, 1, np.nan, 2], "y_test contains NaN"),
        (np.zeros((4, 3)), None, "y_test is None"),
    ],
)
def test_bad_test_rows_are_refused(X, y, words):
    X_train, y_train = noisy(None, 30, 0)
    with pytest.raises(ValueError, match=words):
        held_out_error(X_train, y_train, X, y)


@pytest.mark.parametrize("n_train", [0, 30, 2.5, True, "many"])
def test_impossible_numbers_of_training_rows_are_refused(n_train):
    y = np.arange(30) % 2
    with pytest.raises(
        ValueError, match=r"n_train=.* from 1 to 29: of 30 rows, at least one must be left to test"
    ):
        split_rows(y, n_train=n_train)


def test_too_many_training_rows_with_groups_are_refused():
    y, groups = np.arange(30) % 2, np.repeat(np.arange(3), 10)
    with pytest.raises(
        ValueError, match=r"n_train=25 must be .* of 30 rows, only 20 are outside the test groups"
    ):
        split_rows(y, n_train=25, groups=groups)
    with pytest.raises(ValueError, match="one group only"):
        split_rows(y, groups=np.ones(30))
