"""What bad input gets: one sentence that names it, and nothing half-fitted."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import ShuffleSplit

from l1lsmi import L1LSMI
from l1lsmi.measures import SquaredMutualInformation
from l1lsmi.strategies import L1Weighting

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
Y = (X[:, 0] > 0).astype(int)


def spoiled(value):
    bad = X.copy()
    bad[7, 2] = value
    return bad


BAD_DATA = {
    "NaN": (spoiled(np.nan), Y, "NaN, first in row 7 of column 2"),
    "infinity": (spoiled(np.inf), Y, "infinity, first in row 7 of column 2"),
    "complex": (X + 1j, Y, "Complex data not supported"),
    "one-dimensional": (X[:, 0], Y, "2D array"),
    "other length": (X, Y[:-1], "inconsistent numbers of samples"),
    "no target": (X, None, "requires y to be passed"),
    "one class": (X, np.zeros(30, dtype=int), "one class"),
    "constant number": (X, np.full(30, 0.5), "y is constant, np.float64"),
    "constant columns": (np.ones((30, 4)), Y, "only constant columns"),
    "NaN in y": (X, np.where(Y, 0.3, np.nan), "y contains NaN"),
    "None in y": (X, np.array(["a", None] * 15, dtype=object), "y contains NaN or None"),
    "one row": (X[:1], Y[:1], "1 sample"),
    "words": (np.full((30, 2), "a"), Y, "could not convert|dtype"),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data(case):
    bad_X, bad_y, message = BAD_DATA[case]
    selector = L1LSMI(2)
    with pytest.raises(ValueError, match=message):
        selector.fit(bad_X, bad_y)
    assert not hasattr(selector, "support_")


def test_bad_data_in_the_measure():
    for bad_X, bad_y, message in BAD_DATA.values():
        with pytest.raises(ValueError, match=message):
            SquaredMutualInformation().score(bad_X, bad_y)


def test_a_named_column_is_named():
    frame = pd.DataFrame(spoiled(np.nan), columns=list("abcd"))
    with pytest.raises(ValueError, match="column 'c'"):
        L1LSMI(2).fit(frame, Y)


BAD_PARAMETERS = [
    ({"n_features_to_select": 5}, "n_features_to_select=5 is more than the 4 features of X"),
    ({"n_features_to_select": 0}, "'n_features_to_select' parameter of L1LSMI must be .* Got 0 instead"),
    ({"n_features_to_select": 1.5}, "Got 1.5 instead"),
    ({"n_features_to_select": 0.0}, "Got 0.0 instead"),
    ({"n_features_to_select": "many"}, "Got 'many' instead"),
    ({"algorithm": "magic"}, "'algorithm' parameter .* Got 'magic' instead"),
    ({"task": "ranking"}, "'task' parameter .* Got 'ranking' instead"),
    ({"cv": 1}, "'cv' parameter .* Got 1 instead"),
    ({"cv": "five"}, "'cv' parameter .* Got 'five' instead"),
    ({"cv": ShuffleSplit(3, random_state=0)}, "splitter that tests each row once"),
    ({"n_basis": 0}, "'n_basis' parameter .* Got 0 instead"),
    ({"n_basis": 2.5}, "Got 2.5 instead"),
    ({"n_restarts": 0}, "'n_restarts' parameter .* Got 0 instead"),
    ({"max_iter": -1}, "'max_iter' parameter .* Got -1 instead"),
    ({"time_limit": 0}, "'time_limit' parameter .* Got 0 instead"),
    ({"time_limit": np.nan}, "Got nan instead"),
    ({"random_state": "seed"}, "Got 'seed' instead"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters(parameters, message):
    selector = L1LSMI(**parameters)
    with pytest.raises(ValueError, match=message):
        selector.fit(X, Y)
    assert not hasattr(selector, "support_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"keep": 1.0}, "'keep' parameter .* Got 1.0 instead"),
        ({"narrowness": ()}, r"'narrowness' parameter .* Got \(\) instead"),
        ({"narrowness": (4, -1)}, "must be a sequence of positive numbers"),
        ({"step_size": 0.0}, "'step_size' parameter .* Got 0.0 instead"),
        ({"tolerance": -1.0}, "Got -1.0 instead"),
        ({"max_doublings": 0}, "Got 0 instead"),
    ],
)
def test_bad_parameters_of_the_strategy(parameters, message):
    with pytest.raises(ValueError, match=message):
        L1Weighting(**parameters).select(SquaredMutualInformation(), X, Y, 2)


def test_fewer_rows_than_folds_work_with_a_warning():
    with pytest.warns(UserWarning, match="3 rows, fewer than the cv=5 folds"):
        selector = L1LSMI(1, random_state=0).fit(X[:3], [0, 1, 1])
    assert selector.support_.sum() == 1


def test_a_class_smaller_than_the_folds_works():
    y = Y.copy()
    y[:1] = 2
    assert L1LSMI(2, random_state=0).fit(X, y).support_.sum() == 2


def test_many_whole_numbers_are_a_quantity_with_a_warning():
    y = np.arange(30)
    with pytest.warns(UserWarning, match="30 different whole numbers"):
        guessed = L1LSMI(2, random_state=0).fit(X, y)
    told = L1LSMI(2, random_state=0, task="regression").fit(X, y)
    np.testing.assert_array_equal(guessed.weights_, told.weights_)
    L1LSMI(2, random_state=0, task="classification", n_restarts=1).fit(X, y)


def test_labels_for_regression_are_refused():
    with pytest.raises(ValueError, match="task='classification'"):
        L1LSMI(2, task="regression").fit(X, np.where(Y, "a", "b"))
    with pytest.raises(ValueError, match="task='regression'"):
        L1LSMI(2, task="classification").fit(X, X[:, 0])


def test_bad_tensors():
    torch = pytest.importorskip("torch")
    good = torch.asarray(X)
    for bad, y, message in (
        (torch.asarray(spoiled(np.nan)), Y, "NaN or infinity"),
        (good[:, 0], Y, "2D array"),
        (good, Y[:-1], "30 rows"),
        (good + 1j, Y, "Complex"),
        (good[:1], Y[:1], "n_samples=1"),
    ):
        with pytest.raises(ValueError, match=message):
            L1LSMI(2).fit(bad, y)
    selector = L1LSMI(2, random_state=0).fit(good, Y)
    with pytest.raises(ValueError, match="expecting 4 features"):
        selector.transform(good[:, :3])
