"""What bad input gets: one sentence that names it, and nothing half-fitted."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, PredefinedSplit, ShuffleSplit

from l1lsmi import L1LSMI, FeatureSelector, explain
from l1lsmi.baselines import MRMR
from l1lsmi.inference import KnockoffSelector, StabilitySelector, permutation_test
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Exhaustive, Forward, L1Paper, L1Path, Ranking
from tests.conftest import assert_refused
from tests.matrix import MEASURES, SELECTORS

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
Y = (X[:, 0] > 0).astype(int)


def spoiled(value):
    bad = X.copy()
    bad[7, 2] = value
    return bad


BAD_DATA = {
    "infinity": (spoiled(np.inf), Y, "infinity, first in row 7 of column 2"),
    "complex": (X + 1j, Y, "Complex data not supported"),
    "one-dimensional": (X[:, 0], Y, "2D array"),
    "other length": (X, Y[:-1], "X has 30 rows, but y has 29"),
    "no target": (X, None, "requires y to be passed"),
    "one class": (X, np.zeros(30, dtype=int), "one class"),
    "constant number": (X, np.full(30, 0.5), "y is constant, 0.5 in every row"),
    "constant columns": (np.ones((30, 4)), Y, "only constant columns"),
    "NaN in y": (X, np.where(Y, 0.3, np.nan), "y contains NaN"),
    "None in y": (X, np.array(["a", None] * 15, dtype=object), "y contains NaN or None"),
    "None in a list": (X, ["a", None] * 15, "y contains NaN or None"),
    "NaN in a list": (X, ["a", float("nan")] * 15, "y contains NaN or None"),
    "NA in y": (X, pd.array(["a", None] * 15, dtype="string"), "y contains NaN or None"),
    "NA in a category": (X, pd.Series(["a", None] * 15, dtype="category"), "y contains NaN or None"),
    "labels of two kinds": (X, np.array([1, "1"] * 15, dtype=object), "mixes labels of different kinds"),
    "dates as target": (X, np.arange(30).astype("M8[D]"), "y has dates"),
    "a dictionary as target": (X, {"a": 1}, "y is a dict"),
    "a target of three dimensions": (X, np.ones((30, 2, 2)), "one label or number per row"),
    "masked target": (X, np.ma.masked_array(Y, mask=Y > 0), "y has masked values"),
    "masked values": (np.ma.masked_array(X, mask=X > 1), Y, "X has masked values"),
    "a name twice": (pd.DataFrame(X, columns=list("abca")), Y, "2 columns named 'a'"),
    "nothing": (None, Y, "X is a NoneType"),
    "a dictionary": ({"a": 1}, Y, "X is a dict"),
    "sparse": (scipy.sparse.csr_array(np.where(X > 1, np.nan, X)), Y, "NaN, first in row .* drop or impute"),
    "one row": (X[:1], Y[:1], "1 sample"),
    "words": (np.full((30, 2), "a"), Y, "text in column 0, first 'a' in row 0"),
}

#: Refused by a selector that takes numbers only.
NOT_NUMBERS = {
    "NaN": (spoiled(np.nan), Y, "NaN, first in row 7 of column 2"),
    "dates": (
        pd.DataFrame({"a": X[:, 0], "d": np.arange(30).astype("M8[s]")}),
        Y,
        "dates or times in column 'd'",
    ),
    "a text column": (
        pd.DataFrame({"a": X[:, 0], "b": ["x"] * 30}),
        Y,
        "text in column 'b', first 'x' in row 0",
    ),
    "NA among numbers": (
        pd.DataFrame({"a": [pd.NA] + [1.5] * 29}, dtype=object),
        Y,
        "NaN, first in row 0 of column 'a'",
    ),
    "polars text": (pl.DataFrame({"a": X[:, 0], "b": ["x"] * 30}), Y, "text in column 'b'"),
    "polars null": (pl.DataFrame({"a": [None] + [1.5] * 29}), Y, "NaN, first in row 0 of column 'a'"),
}


SUPERVISED = [name for name in SELECTORS if "unsupervised" not in name]


@pytest.mark.parametrize("case", BAD_DATA)
@pytest.mark.parametrize("name", SUPERVISED)
def test_bad_data(name, case):
    bad_X, bad_y, message = BAD_DATA[case]
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=1)
    with pytest.raises(ValueError, match=message):
        selector.fit(bad_X, bad_y)
    assert not any(attribute.endswith("_") for attribute in vars(selector))


@pytest.mark.parametrize("case", NOT_NUMBERS)
def test_nearest_neighbours_of_columns_take_numbers_only(case):
    bad_X, bad_y, message = NOT_NUMBERS[case]
    assert_refused(MRMR(1, relevance="knn"), bad_X, bad_y, message)


@pytest.mark.parametrize("name", MEASURES)
def test_bad_data_in_the_measures(name):
    for bad_X, bad_y, message in BAD_DATA.values():
        with pytest.raises(ValueError, match=message):
            MEASURES[name].score(bad_X, bad_y)
        with pytest.raises(ValueError, match=message):
            MEASURES[name].score_each(bad_X, bad_y)


@pytest.mark.parametrize(
    "call",
    [
        lambda X: StabilitySelector(MRMR(1), n_resamples=4).fit(X, Y),
        lambda X: KnockoffSelector(MRMR(1)).fit(X, Y),
        lambda X: permutation_test(Pearson(), X, Y, n_permutations=2),
        lambda X: Pearson().score_each(X, Y),
        lambda X: explain.redundancy(MRMR(1).fit(np.asarray(X), Y), X, Y),
    ],
    ids=["stability", "knockoffs", "permutations", "measure", "redundancy"],
)
def test_rows_of_dask_where_all_are_needed(call):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"X is a dask array, but .*: pass X.compute\(\)\.$"):
        call(da.from_array(X, chunks=(10, -1)))


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_refuses_a_bad_number_of_features(name):
    for k, message in (
        (0, "Got 0 instead"),
        (5, "n_features_to_select=5 must be .* between 1 and the number of features: X has 4 feature"),
        (1.0, "Got 1.0 instead"),
        ("two", "Got 'two' instead"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(SELECTORS[name]).set_params(n_features_to_select=k).fit(X, Y)


def test_without_a_target_the_features_are_still_checked():
    for name in SELECTORS:
        if "unsupervised" in name:
            with pytest.raises(ValueError, match="infinity, first in row 7 of column 2"):
                SELECTORS[name].fit(spoiled(np.inf))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"measure": "hsic"}, "'measure' parameter of FeatureSelector must be .* Got 'hsic' instead"),
        ({"measure": HSIC}, "'measure' parameter .* instance of .*Measure"),
        ({"strategy": Forward}, "'strategy' parameter .* instance of .*Strategy"),
        ({"measure": HSIC(sigma=0)}, "'sigma' parameter of HSIC .* Got 0 instead"),
        ({"measure": HSIC(target_sigma=-1.0)}, "'target_sigma' parameter of HSIC .* Got -1.0 instead"),
        ({"measure": Pearson(task="x")}, "'task' parameter of Pearson .* Got 'x' instead"),
        ({"measure": MutualInformation(n_basis=0)}, "'n_basis' parameter .* Got 0 instead"),
        ({"measure": MutualInformation(sigma_factors=(0,))}, "'sigma_factors' .* positive numbers"),
        ({"measure": SquaredMutualInformation(score_by="luck")}, "'score_by' .* Got 'luck' instead"),
        ({"strategy": Forward(shortlist=0)}, "'shortlist' parameter of Forward .* Got 0 instead"),
        ({"strategy": Exhaustive(max_subsets=0)}, "'max_subsets' parameter .* Got 0 instead"),
        ({"strategy": Ranking(time_limit=-1)}, "'time_limit' parameter of Ranking .* Got -1 instead"),
        ({"strategy": Ranking(n_jobs=0)}, "'n_jobs' parameter of Ranking .* Got 0 instead"),
    ],
)
def test_bad_parts(parameters, message):
    selector = FeatureSelector(n_features_to_select=2, **parameters)
    with pytest.raises(ValueError, match=message):
        selector.fit(X, Y)
    assert not hasattr(selector, "support_")


def test_a_named_column_is_named():
    frame = pd.DataFrame(spoiled(np.inf), columns=list("abcd"))
    with pytest.raises(ValueError, match="column 'c'"):
        L1LSMI(2).fit(frame, Y)


BAD_PARAMETERS = [
    (
        {"n_features_to_select": 5},
        "n_features_to_select=5 must be .* between 1 and the number of features: X has 4 feature",
    ),
    ({"n_features_to_select": 0}, "'n_features_to_select' parameter of L1LSMI must be .* Got 0 instead"),
    ({"n_features_to_select": 1.5}, "Got 1.5 instead"),
    ({"n_features_to_select": 0.0}, "Got 0.0 instead"),
    ({"n_features_to_select": "many"}, "Got 'many' instead"),
    ({"algorithm": "magic"}, "'algorithm' parameter .* Got 'magic' instead"),
    ({"task": "ranking"}, "'task' parameter .* Got 'ranking' instead"),
    ({"cv": 1}, "'cv' parameter .* Got 1 instead"),
    ({"cv": "five"}, "'cv' parameter .* Got 'five' instead"),
    ({"cv": ShuffleSplit(3, random_state=0)}, "splitter that tests each row once"),
    ({"cv": KFold}, "cv=.* cannot split these rows"),
    ({"cv": LeaveOneOut()}, "30 folds, the smallest of 1 rows"),
    ({"cv": GroupKFold(3)}, "cannot split these rows: .* or the groups as PredefinedSplit"),
    ({"n_jobs": 0}, "'n_jobs' parameter .* Got 0 instead"),
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
    ("strategy", "message"),
    [
        (L1Path(keep=1.0), "'keep' parameter .* Got 1.0 instead"),
        (L1Path(narrowness=()), r"'narrowness' parameter .* Got \(\) instead"),
        (L1Path(narrowness=(4, -1)), "must be a sequence of positive numbers"),
        (L1Path(step_size=1.0), "'step_size' parameter .* Got 1.0 instead"),
        (L1Path(n_restarts=None), "'n_restarts' parameter .* Got None instead"),
        (L1Paper(step_size=0.0), "'step_size' parameter .* Got 0.0 instead"),
        (L1Paper(tolerance=-1.0), "Got -1.0 instead"),
        (L1Paper(max_doublings=0), "Got 0 instead"),
    ],
)
def test_bad_parameters_of_the_strategy(strategy, message):
    with pytest.raises(ValueError, match=message):
        strategy.select(SquaredMutualInformation(), X, Y, 2)


def test_fewer_rows_than_folds_work_with_a_warning():
    with pytest.warns(UserWarning, match="3 rows, too few for cv=5 folds"):
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


def test_groups_can_be_kept_together():
    folds = PredefinedSplit(np.repeat([0, 1, 2], 10))
    assert L1LSMI(2, cv=folds, random_state=0).fit(X, Y).support_.sum() == 2


def test_a_failed_fit_leaves_no_trace():
    selector = L1LSMI(2, random_state=0)
    with pytest.raises(ValueError, match="infinity"):
        selector.fit(spoiled(np.inf), Y)
    with pytest.raises(NotFittedError):
        selector.transform(X)
    frame = pd.DataFrame(X, columns=list("abcd"))
    selector.fit(frame, Y)
    before = vars(selector).copy()
    with pytest.raises(ValueError, match="one class"):
        selector.fit(pd.DataFrame(np.hstack([X, X])), np.zeros(30))
    assert vars(selector) == before
    selector.fit(X, Y)
    assert not hasattr(selector, "feature_names_in_")


@pytest.mark.parametrize("k", [0, -1, 1.5, 2.0, "a", np.nan, 5, True])
def test_bad_counts_for_the_strategy(k):
    with pytest.raises(ValueError, match=r"k=.* must be a whole number .* X has 4 feature\(s\)"):
        L1Path().select(SquaredMutualInformation(), X, Y, k)


def test_more_features_than_one_column_has():
    # scikit-learn's checks look for these words.
    with pytest.raises(ValueError, match=r"1 feature\(s\)"):
        L1LSMI(2).fit(X[:, :1], Y)


def test_numbers_in_an_object_array_are_numbers():
    y = X[:, 0] + X[:, 1] ** 2
    expected = L1LSMI(2, random_state=0).fit(X, y)
    again = L1LSMI(2, random_state=0).fit(X, y.astype(object))
    np.testing.assert_array_equal(again.weights_, expected.weights_)


def test_bad_pairs_for_the_density_ratio():
    estimate = SquaredMutualInformation(random_state=0).estimate(X, Y)
    for bad_X, bad_y, message in (
        (X[:, :3], Y, "4 features are expected"),
        (X[0], Y, "4 features are expected"),
        (X, Y[:-1], "one target per row"),
        (X, X[:, :2], "one target per row"),
    ):
        with pytest.raises(ValueError, match=message):
            estimate.density_ratio(bad_X, bad_y)


# -- data that looks bad but is not ------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("share", [0.005, 0.02])
def test_rare_marks_are_fine(seed, share):
    rng = np.random.default_rng(seed)
    marks = (rng.random((300, 10)) < share).astype(float)
    selector = L1LSMI(2, p_value=False, pool=None, random_state=0).fit(marks, rng.integers(0, 2, 300))
    assert selector.support_.sum() == 2
    assert np.isfinite(selector.weights_).all()


@pytest.mark.parametrize("algorithm", ["path", "paper"])
def test_limits_of_floating_point_are_fine(algorithm):
    data = np.random.default_rng(0).normal(size=(60, 5))
    y = (data[:, 1] * data[:, 3] > 0).astype(int)
    selector = L1LSMI(2, algorithm=algorithm, n_restarts=2, max_iter=5, random_state=0)
    for extreme in (np.where(data > 0, 1.79e308, -1.79e308), data * 1e-310, np.where(data > 2, 1e300, data)):
        assert selector.fit(extreme, y).support_.sum() == 2
    assert selector.fit(data, np.where(y, 1.7e308, -1.7e308) * np.linspace(0.5, 1, 60)).support_.sum() == 2


def test_two_rows_and_one_feature_are_enough():
    with pytest.warns(UserWarning, match="too few"):
        assert L1LSMI(1, random_state=0).fit([[0.0], [1.0]], [0, 1]).support_.tolist() == [True]


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_more_classes_than_centers():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(30), 4)
    data = np.column_stack([y + 0.1 * rng.normal(size=120), rng.normal(size=(120, 4))])
    selector = L1LSMI(1, n_basis=10, task="classification", random_state=0).fit(data, y)
    assert selector.support_.tolist() == [True, False, False, False, False]


def test_shares_are_not_cut_short():
    wide = np.random.default_rng(0).normal(size=(30, 100))
    for share, expected in ((0.29, 29), (0.57, 57)):
        assert L1LSMI(share, n_restarts=1, random_state=0).fit(wide, Y).support_.sum() == expected


@pytest.mark.filterwarnings("ignore::l1lsmi._warnings.DataWarning")
def test_bad_tensors():
    torch = pytest.importorskip("torch")
    good = torch.asarray(X)
    for bad, y, message in (
        (torch.asarray(spoiled(np.inf)), Y, "infinity, first in row 7 of column 2"),
        (good.to_sparse(), Y, "dense tensor"),
        (good[:, :0], Y, "0 features"),
        (good[:, 0], Y, "2D array"),
        (good, Y[:-1], "X has 30 rows, but y has 29"),
        (good + 1j, Y, "complex"),
        (good[:1], Y[:1], "n_samples=1"),
    ):
        with pytest.raises(ValueError, match=message):
            L1LSMI(2).fit(bad, y)
    selector = L1LSMI(2, n_restarts=1, p_value=False, pool=None, random_state=0).fit(good, Y)
    for alike in (good.clone().requires_grad_(), good.bfloat16().double()):
        L1LSMI(2, n_restarts=1, p_value=False, pool=None, random_state=0).fit(
            alike, torch.asarray(Y, dtype=torch.bfloat16)
        )
    L1LSMI(2, n_restarts=1, p_value=False, pool=None, random_state=0).fit(
        X, torch.asarray(X[:, 0]).requires_grad_()
    )
    with pytest.raises(ValueError, match="expecting 4 features"):
        selector.transform(good[:, :3])


def test_bad_measures_for_a_strategy():
    for bad, message in (
        ("HSIC", "measure is 'HSIC': pass an instance of a measure"),
        (None, "measure is None"),
        (HSIC, "measure is the class HSIC"),
        (Forward(), "measure is Forward"),
    ):
        with pytest.raises(ValueError, match=message):
            Ranking().select(bad, X, Y, 2)
    with pytest.raises(ValueError, match="random_state='a' cannot be used"):
        Ranking().select(SquaredMutualInformation(), X, Y, 2, random_state="a")
    with pytest.raises(ValueError, match="sequence of positive numbers"):
        SquaredMutualInformation(sigma_factors=("1", "2")).score(X, Y)


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "message"),
    [
        (X, [], "y is empty"),
        (X, [10**400 + i for i in range(30)], "beyond the range of float64"),
        ([[1, 2], [3]], [0, 1], "X cannot be used"),
        (np.zeros((3, 3, 3)), [0, 1, 0], "X cannot be used.*dim 3"),
        (X[:, 0], Y, "X cannot be used.*2D array"),
        (X + 1j, Y, "X cannot be used.*Complex data not supported"),
    ],
)
def test_errors_are_one_line_that_names_the_argument(bad_X, bad_y, message):
    with pytest.raises(ValueError, match=message) as error:
        L1LSMI(1).fit(bad_X, bad_y)
    assert "\n" not in str(error.value)


def test_no_pairs_for_the_density_ratio():
    estimate = SquaredMutualInformation(random_state=0).estimate(X, Y)
    assert estimate.density_ratio(X[:0], Y[:0]).shape == (0,)
    for bad_X, message in ((spoiled(np.nan), "NaN or infinity"), (np.full((30, 4), "a"), "table of numbers")):
        with pytest.raises(ValueError, match=message):
            estimate.density_ratio(bad_X, Y)


@pytest.mark.parametrize("y", [np.repeat(["a", "b"], 25)[:10], np.arange(10.0)])
def test_different_lengths_are_told_first(y):
    # All of the ten are of one class, which is told only where there is one target per row.
    with pytest.raises(ValueError, match=r"^X has 50 rows, but y has 10: pass one target per row\.$"):
        L1LSMI(3).fit(np.random.default_rng(0).normal(size=(50, 5)), y)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"groups": pd.array([1, None] * 15, dtype="Int64")}, "groups has a missing value, first in row 1"),
        ({"groups": np.append(np.nan, np.zeros(29))}, "groups has a missing value, first in row 0"),
        (
            {"groups": np.array([1, "a"] * 15, dtype=object)},
            "groups mixes labels of different kinds, int and str",
        ),
        ({"sample_weight": np.ones(30) + 1j}, "sample_weight is a ndarray that cannot be read as numbers"),
    ],
)
def test_groups_and_weights_that_cannot_be_used(arguments, words):
    X = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match=words):
        L1LSMI(1).fit(X, X[:, 0] > 0, **arguments)


def test_labels_that_are_nearly_all_different_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    with pytest.warns(UserWarning, match="y has 60 different labels in 60 rows.*: convert text to numbers"):
        MRMR(1).fit(X, [f"{value:.4f}" for value in X[:, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MRMR(1).fit(X, [f"class {i}" for i in np.arange(60) // 2])
        MRMR(1, task="classification").fit(X, [f"{value:.4f}" for value in X[:, 0]])


def test_a_column_of_objects_without_values_is_transformed():
    frame = pd.DataFrame({"a": np.arange(30.0), "b": np.arange(30) % 7 * 1.0, "c": [None] * 30})
    with pytest.warns(UserWarning, match="no values"):
        selector = L1LSMI(1, random_state=0).fit(frame, np.arange(30) > 14)
    assert len(selector.transform(frame)) == 30
    other = frame.assign(a=np.array([None] * 30, dtype=object), b=frame.b.astype(object))
    assert len(selector.transform(other)) == 30
