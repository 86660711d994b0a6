"""Columns of any kind: categories, missing values, dates, and dataframes of several libraries."""

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector, datasets
from l1lsmi._numerics.correlation import correlation_of_values
from l1lsmi._numerics.missing import informative_missing
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.columns import _contrasts
from l1lsmi._rows.blocks import Block, Centers
from l1lsmi._rows.kinds import Kinds, shares_of
from l1lsmi._rows.statistics import column_statistics
from l1lsmi._rows.table import Table
from l1lsmi._validation.columns import read_frame
from l1lsmi._validation.encoding import encode_levels
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.strategies import Forward, L1Path, Ranking
from tests.conftest import assert_close

pytestmark = pytest.mark.filterwarnings("ignore:There is no evidence")


def mixed_table(n=60, as_value=False, missing=0.2):
    """A number, a category of four levels and a complete number, with missing values in the first two."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(3, 2, n), rng.integers(0, 4, n), rng.normal(size=n)]).astype(float)
    x[:, :2][rng.random((n, 2)) < missing] = np.nan
    shares = (None, shares_of(x[:, 1], 4), None)
    gone = np.isnan(x).mean(axis=0)
    return Table.of(x, kinds=Kinds(shares, gone, np.array([as_value, as_value, False]) & (gone > 0)))


def expected_distances(table, weights):
    """Squared distances by the definition: equal or not; means where values are missing."""
    x, kinds = table.x, table.kinds
    total = np.zeros((len(x), len(x)))
    for j, v in enumerate(weights):
        p, column, gone = kinds.shares[j], x[:, j], np.isnan(x[:, j])
        each = np.zeros_like(total)
        if p is None:
            z = (column - np.nanmean(column)) / np.nanstd(column)
            gaps = (z[:, None] - z) ** 2
            beside = np.where(gone, 0.0, z) ** 2
        else:
            norm = 1 - (p**2).sum()
            gaps = 2 * (column[:, None] != column) / norm
            of_level = np.append((1 - 2 * p + (p**2).sum()) / norm, 0.0)
            beside = of_level[np.where(gone, len(p), column).astype(int)]
        each = np.where(gone[:, None] | gone, beside[:, None] + beside, gaps)
        if kinds.as_value[j]:
            q = gone.mean()
            each += (gone[:, None] != gone) / (q * (1 - q))
        else:
            each += gone[:, None].astype(float) + gone
        total += v * each
    return total


@pytest.mark.parametrize("as_value", [False, True])
def test_distances_are_those_of_the_definition(as_value):
    table = mixed_table(as_value=as_value)
    rows, weights = np.arange(table.n_rows), np.array([[0.7, 1.3, 0.2]])
    columns = np.arange(3)[None]
    block = Block(table, rows[None, None], Centers.of(table, rows[None]))
    expected = expected_distances(table, weights[0])
    assert_close(-2 * block.exponents(weights, columns)[0], expected, atol=1e-12)
    assert_close(2 * block.centers.distances(weights, columns)[0][0], expected, atol=1e-12)
    # The mean squared distance between two rows is 2 for each column, whatever it is.
    off = ~np.eye(table.n_rows, dtype=bool)
    for j in range(3):
        alone = np.eye(3)[j]
        n = table.n_rows
        mean = expected_distances(table, alone)[off].mean() * (n - 1) / n
        assert mean == pytest.approx(4 if table.kinds.as_value[j] else 2, rel=0.35 if as_value else 0.05)


@pytest.mark.parametrize("as_value", [False, True])
def test_gradients_and_neighbours_follow_the_distances(as_value):
    table = mixed_table(as_value=as_value)
    rows = np.arange(table.n_rows)
    block = Block(table, rows[None, None], Centers.of(table, rows[None, :20]))
    gradient = np.random.default_rng(1).normal(size=(1, table.n_rows, 20))
    columns = np.arange(3)[None]
    found = block.pull_back(gradient, columns)[0]
    for j in range(3):
        half = 0.5 * expected_distances(table, np.eye(3)[j])[:, :20]
        assert found[j] == pytest.approx((gradient[0] * half).sum(), rel=1e-10)
    (added,) = block.moved_exponents(np.array([2]), np.array([1]), 1.0, 1.0)
    both = -0.5 * expected_distances(table, np.array([0, 1, 1]))[:, :20]
    assert_close(added[0], both, atol=1e-12)


def test_statistics_leave_missing_values_out():
    x = np.random.default_rng(0).normal(5, 3, size=(80, 4))
    x[np.random.default_rng(1).random(x.shape) < 0.3] = np.nan
    x[:, 3] = np.nan
    weights = np.random.default_rng(2).integers(1, 4, 80).astype(float)
    mean, scale = column_statistics(x)
    assert_close(mean[:3], np.nanmean(x[:, :3], axis=0))
    assert_close(scale[:3], np.nanstd(x[:, :3], axis=0))
    assert scale[3] == 0
    repeated = np.repeat(x, weights.astype(int), axis=0)
    for one, other in zip(column_statistics(x, weights), column_statistics(repeated), strict=True):
        assert_close(one, other)


@given(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=2, max_size=40))
@settings(max_examples=50, deadline=None)
def test_levels_are_numbered_by_falling_frequency(values):
    columns = read_frame(pd.DataFrame({"x": pd.Series(values, dtype=object), "n": np.arange(len(values))}))
    codes, levels = columns.x[:, 0], columns.levels[0] or []
    assert [None if np.isnan(c) else levels[int(c)] for c in codes] == values
    counts = [values.count(level) for level in levels]
    assert counts == sorted(counts, reverse=True)


# -- dataframes -------------------------------------------------------------------------------


def made_frame(n=120, seed=0):
    """A target that depends on a category and a number; other columns of all kinds."""
    rng = np.random.default_rng(seed)
    city = rng.choice(["Ulm", "Bonn", "Köln"], n)
    age = np.where(rng.random(n) < 0.1, np.nan, rng.normal(40, 10, n))
    frame = pd.DataFrame(
        {
            "age": age,
            "city": city,
            "noise": pd.Categorical(rng.choice(list("uvwx"), n)),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True),
            "member": pd.array(rng.choice([True, False], n), dtype="boolean"),
            "visits": pd.array(np.where(rng.random(n) < 0.1, None, rng.integers(0, 9, n)), dtype="Int64"),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "wait": pd.to_timedelta(rng.integers(0, 90, n), unit="min"),
        }
    )
    y = (city == "Bonn") ^ (frame["member"].to_numpy(dtype=bool))
    return frame, y.astype(int)


def arrow_of(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": lambda frame: pl.from_pandas(frame.assign(size=frame["size"].cat.codes)),
    "pyarrow": arrow_of,
}


def test_columns_of_all_kinds_become_numbers():
    frame, _ = made_frame()
    columns = read_frame(frame)
    assert columns.levels[1] is not None and set(columns.levels[1]) == {"Ulm", "Bonn", "Köln"}
    assert columns.levels[3] is None and set(np.unique(columns.x[:, 3])) == {0.0, 1.0, 2.0}
    assert np.isnan(columns.x[:, 5]).sum() == frame["visits"].isna().sum()
    assert_close(columns.x[:, 6], (frame["since"] - pd.Timestamp("1970-01-01")).dt.days.to_numpy())
    assert_close(columns.x[:, 7], frame["wait"].dt.total_seconds().to_numpy() / 86_400)


@pytest.mark.parametrize("library", LIBRARIES)
def test_dataframes_of_every_library_give_the_same_answer(library):
    frame, y = made_frame()
    expected = L1LSMI(2).fit(frame, y)
    found = L1LSMI(2).fit(LIBRARIES[library](frame), y)
    assert list(expected.get_feature_names_out()) == ["city", "member"]
    np.testing.assert_array_equal(found.support_, expected.support_)
    # Of pyarrow, the sizes have no order: another content, and another order of the rows.
    assert found.smi_ == pytest.approx(expected.smi_, rel=1e-3 if library == "pyarrow" else 1e-10)
    assert found.feature_names_in_.tolist() == list(frame.columns)


MEASURES = [
    HSIC(),
    SquaredMutualInformation(random_state=0),
    MutualInformation(n_basis=30, random_state=0),
    Pearson(),
]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: type(m).__name__)
def test_other_names_of_levels_change_nothing(measure):
    frame, y = made_frame()
    frame = frame[["age", "city", "noise", "visits"]]
    renamed = frame.assign(
        city=frame["city"].map({"Ulm": "zz", "Bonn": "aa", "Köln": "mm"}),
        noise=frame["noise"].cat.rename_categories(dict(zip("uvwx", "xwvu", strict=True))),
    )
    np.testing.assert_array_equal(measure.score_each(frame, y), measure.score_each(renamed, y))
    strategy = Ranking() if isinstance(measure, Pearson) else Forward()
    one, other = (FeatureSelector(measure, strategy, 2).fit(each, y) for each in (frame, renamed))
    np.testing.assert_array_equal(one.support_, other.support_)


@pytest.mark.parametrize("selector", [L1LSMI(2), L1HSIC(2), FeatureSelector(HSIC(), L1Path(), 2)], ids=repr)
def test_interactions_of_categories_are_found(selector):
    rng = np.random.default_rng(0)
    n = 300
    frame = pd.DataFrame({f"n{j}": rng.normal(size=n) for j in range(4)})
    for j in range(4):
        frame[f"c{j}"] = pd.Categorical(rng.choice(list("abcde"), n))
    y = (frame["c1"].cat.codes + frame["c3"].cat.codes) % 5 < 2
    assert list(clone(selector).fit(frame, y).get_feature_names_out()) == ["c1", "c3"]


def test_a_category_is_one_feature_in_a_pipeline():
    frame, y = made_frame(200)
    model = make_pipeline(
        L1LSMI(2), HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=20)
    )
    frame = frame.assign(city=frame["city"].astype("category"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = cross_validate(model, frame, y, cv=3)["test_score"]
    assert scores.min() > 0.9


def test_transform_keeps_the_frame_and_its_kinds():
    frame, y = made_frame()
    selector = L1LSMI(2).fit(frame, y)
    out = selector.transform(frame)
    assert isinstance(out, pd.DataFrame) and list(out) == ["city", "member"]
    restored = pickle.loads(pickle.dumps(selector))
    assert restored.categories_ == selector.categories_
    polars = LIBRARIES["polars"](frame)
    assert isinstance(selector.transform(polars), pl.DataFrame)


@pytest.mark.parametrize("output", ["default", "pandas"])
def test_a_frame_without_selected_columns_keeps_its_rows(output):
    frame, _ = made_frame()
    y = np.random.default_rng(0).normal(size=len(frame))
    with pytest.warns(UserWarning, match="no evidence|No features"):
        selector = L1LSMI("auto").set_output(transform=output).fit(frame, y)
    assert not selector.support_.any()
    found = selector.transform(frame)
    assert found.shape == (len(frame), 0)
    assert found.index.equals(frame.index)
    assert selector.inverse_transform(found).shape == frame.shape


def test_transform_names_what_has_changed():
    frame, y = made_frame()
    selector = L1LSMI(2).fit(frame, y)
    with pytest.warns(
        UserWarning, match=r"'city' has levels that the selector was not fitted to, first 'Paris'"
    ) as told:
        selector.transform(frame.assign(city=frame["city"].replace("Ulm", "Paris")))
    assert told[0].filename == __file__
    with pytest.raises(ValueError, match=r"text in column 'age'.*where the fit had numbers"):
        selector.transform(frame.assign(age=["old"] * len(frame)))
    with pytest.raises(ValueError, match="X has column 'years' where the selector was fitted to 'age'"):
        selector.transform(frame.rename(columns={"age": "years"}))


def test_categorical_features_by_name_number_and_mask():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 200), rng.normal(size=(200, 3))])
    y = np.isin(X[:, 0], [0, 2, 5]).astype(int)
    by_number = L1LSMI(1, categorical_features=[0]).fit(X, y)
    by_mask = L1LSMI(1, categorical_features=[True, False, False, False]).fit(X, y)
    frame = pd.DataFrame(X, columns=list("abcd"))
    by_name = L1LSMI(1, categorical_features=["a"]).fit(frame, y)
    assert by_number.smi_ == by_mask.smi_ == by_name.smi_
    assert by_number.get_support(indices=True).tolist() == [0]
    assert sorted(by_number.categories_[0]) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["z"], "has 'z', but X has no column of that name"),
        ([9], "has 9, but X has 2 columns"),
        ([True], "mask of 1 entries, but X has 2 columns"),
    ],
)
def test_unknown_categorical_features(given, words):
    frame = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3})
    with pytest.raises(ValueError, match=words):
        L1LSMI(1, categorical_features=given).fit(frame, np.arange(20) % 2)


def test_text_that_names_the_rows_is_refused():
    frame = pd.DataFrame({"name": [f"person {i}" for i in range(100)], "b": np.arange(100.0)})
    with pytest.raises(
        ValueError, match=r"text in column 'name' with 100 different values in 100 rows, first"
    ):
        L1LSMI(1).fit(frame, np.arange(100) % 2)
    frame["price"] = [f"{i},5" for i in range(100)]
    frame["day"] = [f"day {i}" for i in range(100)]
    told = r"'name' .* \(and such text in 'price', 'day'\): .*TablePreparation if it holds numbers or dates"
    with pytest.raises(ValueError, match=told):
        L1LSMI(1).fit(frame, np.arange(100) % 2)


def test_mixed_objects_are_refused():
    frame = pd.DataFrame({"a": [1, "x"] * 10, "b": np.arange(20.0)})
    with pytest.raises(TypeError, match=r"int and str in column 'a'"):
        L1LSMI(1).fit(frame, np.arange(20) % 2)


# -- many levels ------------------------------------------------------------------------------


def test_a_level_of_a_row_does_not_know_its_target():
    rng = np.random.default_rng(0)
    n, n_levels = 2000, 600
    codes = rng.integers(0, n_levels, n).astype(float)
    y = rng.normal(size=n)
    numbers = encode_levels(codes, Target.of_values(y, 0.0, 1.0))
    # Means over all rows of a level would be correlated by about sqrt(600 / 2000).
    assert abs(np.corrcoef(numbers, y)[0, 1]) < 4 / np.sqrt(n)
    effect = rng.normal(size=n_levels)
    true = effect[codes.astype(int)]
    found = encode_levels(codes, Target.of_values(true + 0.3 * y, 0.0, 1.0))
    assert np.corrcoef(found, true)[0, 1] > 0.6


def test_a_level_of_one_row_beside_levels_that_give_away_the_target():
    codes = np.append(np.repeat(np.arange(2.0), 30), 2.0)
    found = encode_levels(codes, Target.of_values(codes % 2, 0.0, 1.0))
    assert np.isfinite(found).all()


@pytest.mark.parametrize("n_levels", [40, 400])
def test_a_decisive_category_of_many_levels_is_found(n_levels):
    rng = np.random.default_rng(1)
    n = 1200
    codes = rng.integers(0, n_levels, n)
    frame = pd.DataFrame({f"n{j}": rng.normal(size=n) for j in range(5)})
    frame["hospital"] = pd.Categorical([f"h{c}" for c in codes])
    frame["noise"] = pd.Categorical([f"h{c}" for c in rng.integers(0, n_levels, n)])
    y = rng.normal(size=n_levels)[codes] + 0.5 * rng.normal(size=n) > 0
    assert list(L1LSMI(1).fit(frame, y).get_feature_names_out()) == ["hospital"]


# -- missing values ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["and_or", "quad", "xor"])
def test_toys_with_missing_values(name):
    X, y = getattr(datasets, f"make_{name}")(400, random_state=3)
    true = datasets.toys.TRUE_FEATURES[name]
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    selector = L1LSMI(len(true), p_value=False, pool=None).fit(X, y)
    assert tuple(selector.get_support(indices=True)) == true


@pytest.mark.parametrize("selector", [L1LSMI(1), L1HSIC(1), FeatureSelector(HSIC(), Ranking(), 1)], ids=repr)
def test_informative_missingness_is_found(selector):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 6)), rng.integers(0, 2, 300)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[(y == 1) & (rng.random(300) < 0.6), 4] = np.nan
    assert clone(selector).fit(X, y).get_support(indices=True).tolist() == [4]
    assert clone(selector).set_params(missing="value").fit(X, y).support_[4]


def test_missingness_that_says_nothing_is_not_a_value():
    rng = np.random.default_rng(0)
    n_found = 0
    for _ in range(40):
        x, y = rng.normal(size=(100, 5)), rng.integers(0, 2, 100)
        x[rng.random(x.shape) < 0.2] = np.nan
        kinds = Kinds.numbers(np.isnan(x).mean(axis=0))
        n_found += informative_missing(Table.of(x, kinds=kinds), Target.of_classes(y), kinds).sum()
    assert n_found <= 8  # 2 are expected


def test_columns_without_values_are_named():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(100, 4)), columns=list("abcd"))
    y = (frame["a"] > 0).to_numpy()
    frame["b"] = np.nan
    frame.loc[3:, "c"] = np.nan
    with pytest.warns(UserWarning, match=r"Column 'b' has no values.*Column 'c' has values in 3 of 100 rows"):
        selector = L1LSMI(1).fit(frame, y)
    assert selector.get_support(indices=True).tolist() == [0]


def test_infinity_is_still_refused():
    X = np.arange(40.0).reshape(20, 2)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity, first in row 3 of column 1"):
        L1LSMI(1).fit(X, np.arange(20) % 2)


def test_correlation_of_a_category_is_the_correlation_ratio():
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 3, 90).astype(float), rng.normal(size=90)
    codes[::7] = np.nan
    rows = ~np.isnan(codes)
    target = Target.of_values(y, float(y.mean()), float(y.std()))
    means = np.array([y[codes == level].mean() for level in range(3)])
    expected = np.corrcoef(means[codes[rows].astype(int)], y[rows])[0, 1]
    assert correlation_of_values(codes, 3, target) == pytest.approx(expected, rel=1e-12)
    numbers = np.where(rows, rng.normal(size=90), np.nan)
    expected = abs(np.corrcoef(numbers[rows], y[rows])[0, 1])
    assert correlation_of_values(numbers, 0, target) == pytest.approx(expected, rel=1e-12)


def test_complete_numbers_have_no_kinds():
    X = np.random.default_rng(0).normal(size=(50, 3))
    table = Table.of(X)
    assert table.kinds is None
    plain = replace(table, kinds=Kinds.numbers(np.zeros(3)))
    rows = np.arange(50)
    assert_close(plain.points(rows, np.arange(3)).values, table.take(rows, np.arange(3)))


@pytest.mark.parametrize("selector", [L1LSMI(2), L1HSIC(2)], ids=["L1LSMI", "L1HSIC"])
def test_whole_weights_are_repetition(selector):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"n{j}": rng.normal(size=120) for j in range(3)})
    frame["some"] = rng.choice(list("abcd"), 120, p=[0.4, 0.3, 0.2, 0.1])
    # The last of 41 levels, more than a category keeps, is in rows of weight 0 only.
    frame["many"] = [f"level {j % 41}" for j in range(120)]
    y = frame["n0"] + (frame["some"] == "a") + 0.3 * rng.normal(size=120)
    frame.loc[rng.random(120) < 0.2, ["n1", "some"]] = np.nan
    w = np.where(frame["many"] == "level 40", 0, rng.integers(0, 4, size=120))
    rows = rng.permutation(np.repeat(np.arange(120), w))
    one = clone(selector).fit(frame, y, sample_weight=w)
    other = clone(selector).fit(frame.iloc[rows], y.iloc[rows])
    assert_close(one.weights_, other.weights_, rtol=1e-8, atol=1e-10)
    assert one.get_support().tolist() == other.get_support().tolist()


@pytest.mark.parametrize("share", [0.03, 0.05, 0.3])
def test_a_category_of_two_levels_is_selected_as_zero_and_one_are(share):
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(1_200, 5)), columns=list("abcde"))
    flag = rng.random(1_200) < share
    chance = 1 / (1 + np.exp(2.4 - 0.6 * numbers.a - 0.5 * numbers.b))
    y = (rng.random(1_200) < chance) | (flag & (rng.random(1_200) < 0.95))
    as_number, as_text = numbers.assign(flag=flag * 1), numbers.assign(flag=np.where(flag, "yes", "no"))
    one, other = (L1LSMI(2, random_state=0).fit(X, y) for X in (as_number, as_text))
    assert "flag" in one.get_feature_names_out()
    np.testing.assert_array_equal(one.support_, other.support_)
    assert other.smi_ == pytest.approx(one.smi_, rel=0.02)


def test_rare_levels_of_a_category_have_functions_outside_of_pairs():
    shares = np.zeros(32)
    shares[:5] = 0.55, 0.37, 0.03, 0.03, 0.02
    values, size, in_pairs = _contrasts(shares, 16, 0.05)
    assert (size, in_pairs) == (4, 2)  # three bins in pairs: the two common levels, and the rare ones
    functions = values[:5, :4]
    np.testing.assert_allclose(functions.T @ (shares[:5, None] * functions), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(shares[:5] @ functions, 0, atol=1e-9)
    np.testing.assert_allclose(np.ptp(functions[2:, :2], axis=0), 0, atol=1e-9)
    # Those that are seen in pairs do not depend on the number of all.
    np.testing.assert_array_equal(_contrasts(shares, 2, 0.05)[0][:, :2], values[:, :2])
    alone = np.zeros(32)
    alone[:2] = 0.98, 0.02
    assert _contrasts(alone, 16, 0.05)[1:] == (1, 0)
