"""Several targets, and times until an event, are selected for together."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.utils import get_tags

from l1lsmi import L1HSIC, L1LSMI, FeatureSelector
from l1lsmi._cli.app import app
from l1lsmi._numerics.survival import CumulativeHazard
from l1lsmi._numerics.target import Target
from l1lsmi._numerics.terms.search import TermSearch
from l1lsmi._numerics.terms.target_functions import target_functions
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target, plain_target, target_rows
from l1lsmi._warnings import data_warnings
from l1lsmi.baselines import MRMR, QPFS, SPEC, LaplacianScore, LassoK, ReliefF
from l1lsmi.evaluation import compare_selectors, held_out_error, svm_error
from l1lsmi.explain import explain_selection, pair_terms
from l1lsmi.files import FileProblem, TargetTable, prepare, read_table
from l1lsmi.inference import KnockoffSelector, StabilitySelector, permutation_test
from l1lsmi.measures import HSIC, MutualInformation, Pearson, SquaredMutualInformation
from l1lsmi.report import collect, render, schema
from l1lsmi.sources import read_sample
from l1lsmi.strategies import Backward, Exhaustive, Forward, L1Path, Ranking

TRUE = [0, 1, 4]
KINDS = ["numeric", "multilabel", "mixed"]
BASELINES = [MRMR(2), QPFS(2), LassoK(2), ReliefF(2), SPEC(2), LaplacianScore(2)]


def two_targets(kind, n=250, m=12, seed=0):
    """Targets of which one depends on the product of columns 0 and 1, the other on the square of column 4."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    one, other = np.sign(X[:, 0] * X[:, 1]), X[:, 4] ** 2
    if kind == "multilabel":
        return X, np.column_stack([one > 0, other > 0.45]).astype(int)
    if kind == "mixed":
        return X, pd.DataFrame({"sign": np.where(one > 0, "plus", "minus"), "size": other})
    return X, np.column_stack([one, other]) + 0.3 * rng.normal(size=(n, 2))


def hazards(n=250, m=8, seed=0):
    """Times and events of proportional hazards, about 30 % of them censored, of columns 2, 5 and 7."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    times = rng.exponential(np.exp(-1.2 * X[:, 2] + 1.2 * X[:, 5] - X[:, 7]))
    censored = rng.exponential(1.9 * np.quantile(times, 0.7), size=n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = times <= censored, np.minimum(times, censored)
    return X, y


def found(selector):
    return selector.get_support(indices=True).tolist()


# -- what is found ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selector", [L1LSMI(3), L1HSIC(3)], ids=["L1LSMI", "L1HSIC"])
def test_features_of_both_targets_are_found(selector, kind, seed):
    assert found(selector.fit(*two_targets(kind, seed=seed))) == TRUE


@pytest.mark.parametrize("seed", range(3))
def test_features_of_a_hazard_are_found(seed):
    X, y = hazards(seed=seed)
    assert 0.2 < 1 - y["event"].mean() < 0.4
    assert found(L1LSMI(3).fit(X, y)) == [2, 5, 7]


def test_two_targets_among_thirty_are_found():
    X, y = two_targets("numeric", n=300)
    others = np.random.default_rng(1).normal(size=(300, 28))
    assert found(L1LSMI(3, p_value=False, pool=None).fit(X, np.column_stack([others, y]))) == TRUE


def test_a_number_of_features_is_chosen_for_several_targets():
    selector = L1LSMI("auto").fit(*two_targets("numeric"))
    assert found(selector) == TRUE and selector.p_value_ < 0.01


@pytest.mark.parametrize(
    ("measure", "strategy", "columns"),
    [
        (Pearson(), Ranking(), [2, 5, 7]),
        (HSIC(), Forward(), [2, 5, 7]),
        (HSIC(), Backward(), [2, 5, 7]),
        (SquaredMutualInformation(n_basis=40), Ranking(), [2, 5, 7]),
        (MutualInformation(n_basis=40), L1Path(n_restarts=1), [2, 5, 7]),
    ],
    ids=["Pearson", "forward", "backward", "SMI", "MI"],
)
def test_any_measure_and_strategy(measure, strategy, columns):
    X, y = hazards()
    assert (
        found(FeatureSelector(measure, strategy, 3, random_state=0, p_value=False, pool=None).fit(X, y))
        == columns
    )
    rng = np.random.default_rng(0)
    two = np.column_stack([X[:, 2] + X[:, 5], X[:, 7]]) + 0.3 * rng.normal(size=(len(X), 2))
    assert (
        found(FeatureSelector(measure, strategy, 3, random_state=0, p_value=False, pool=None).fit(X, two))
        == columns
    )


def test_exhaustive_search_for_two_targets():
    X, y = two_targets("mixed", m=6)
    assert found(FeatureSelector(HSIC(), Exhaustive(), 3).fit(X, y)) == TRUE


@pytest.mark.parametrize("selector", BASELINES, ids=lambda one: type(one).__name__)
def test_baselines_find_a_feature_of_each_target(selector):
    X = np.random.default_rng(0).normal(size=(300, 6))
    frame = pd.DataFrame({"number": X[:, 1] + 0.1 * X[:, 0], "class": np.where(X[:, 4] > 0, "a", "b")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found(clone(selector).fit(X, frame)) == [1, 4]
        assert found(clone(selector).fit(X, X[:, [1, 4]] + 0.01 * X[:, [0, 2]])) == [1, 4]


def test_relevance_is_the_mean_over_targets():
    X, frame = two_targets("mixed")
    each = [Pearson().score_each(X, frame[name]) for name in frame]
    np.testing.assert_allclose(Pearson().score_each(X, frame), np.mean(each, axis=0))
    each = [ReliefF(2).fit(X, frame[name]).scores_ for name in frame]
    np.testing.assert_allclose(ReliefF(2).fit(X, frame).scores_, np.mean(each, axis=0))


# -- a column is a vector --------------------------------------------------------------------


@pytest.mark.parametrize("labels", [False, True], ids=["numbers", "classes"])
@pytest.mark.parametrize(
    "selector", [L1LSMI(2, random_state=0), L1HSIC(2), *BASELINES], ids=lambda s: type(s).__name__
)
def test_one_column_gives_the_answer_of_a_vector(selector, labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = X[:, 1] + X[:, 3] + 0.5 * rng.normal(size=80)
    y = np.where(y > 0, "a", "b") if labels else y
    as_vector = clone(selector).fit(X, y)
    columns = [y[:, None], pd.DataFrame({"y": y}), pl.DataFrame({"y": y}), [[value] for value in y.tolist()]]
    for column in columns:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            other = clone(selector).fit(X, column)
        for name in ("support_", "ranking_", "scores_", "weights_", "p_value_", "coef_"):
            if hasattr(as_vector, name):
                np.testing.assert_array_equal(getattr(other, name), getattr(as_vector, name))


# -- encoding --------------------------------------------------------------------------------


def test_every_kind_of_table_is_the_same_target():
    values = np.random.default_rng(0).normal(size=(30, 3))
    reference = check_target(values, "auto")
    assert reference.values.shape == (30, 3)
    for y in (values.tolist(), pd.DataFrame(values), pl.DataFrame(values), tuple(map(tuple, values))):
        np.testing.assert_allclose(check_target(y, "auto").values, reference.values)
    np.testing.assert_allclose(check_target(list(values), "auto").values, reference.values)
    np.testing.assert_allclose(check_target(np.ma.masked_array(values), "auto").values, reference.values)
    assert check_target([np.array(value) for value in values[:, 0]], "auto").values.ndim == 1


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_classes_have_the_expected_distance_of_a_standardised_number(classes):
    rng = np.random.default_rng(0)
    labels = rng.choice(classes, size=200, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    target = check_target(pd.DataFrame({"a": labels.astype(str), "b": rng.normal(size=200)}), "auto")
    for part in target.parts:
        values = target.values[:, part.first : part.last]
        squares = ((values[:, None] - values) ** 2).sum(axis=2)
        assert squares.mean() == pytest.approx(2)
    first = target.values[:, : target.parts[0].last]
    shares = np.bincount(labels) / 200
    apart = np.unique(np.round(((first[:, None] - first) ** 2).sum(axis=2), 9))
    np.testing.assert_allclose(apart, [0, 2 / (1 - (shares**2).sum())])


def test_columns_are_decided_one_by_one():
    frame = pd.DataFrame(
        {
            "number": np.linspace(0, 1, 40),
            "label": ["u", "v"] * 20,
            "flag": [True, False] * 20,
            "code": pd.Categorical(np.arange(40) % 4),
            "few": np.arange(40) % 3,
        }
    )
    target = check_target(frame, "auto")
    assert [part.name for part in target.parts] == list(frame)
    assert [None if part.classes is None else len(part.classes) for part in target.parts] == [
        None,
        2,
        2,
        4,
        3,
    ]
    numbers = check_target(frame[["number", "few"]], "regression")
    assert all(part.classes is None for part in numbers.parts) and numbers.values.shape == (40, 2)
    assert target.task == "several" and not target.is_classification


def test_targets_come_apart_and_back():
    X, frame = two_targets("mixed")
    frame["third"] = np.digitize(X[:, 3], [-0.5, 0.5]).astype(str)
    target = check_target(frame, "auto")
    decoded = target.decoded()
    assert (
        decoded[:, 0].tolist() == frame["sign"].tolist() and decoded[:, 2].tolist() == frame["third"].tolist()
    )
    np.testing.assert_allclose(decoded[:, 1].astype(float), frame["size"])
    np.testing.assert_allclose(target.encode(plain_target(frame)), target.values)
    for one, name in zip(target.each(), frame, strict=True):
        alone = check_target(frame[name], "auto")
        np.testing.assert_array_equal(one.codes, alone.codes)
    unknown = plain_target(frame)[:2].copy()
    unknown[0, 2] = "never seen"
    assert np.isinf(target.encode(unknown)[0, 2:]).all() and np.isfinite(target.encode(unknown)[1]).all()


def test_weights_of_rows_enter_the_encoding():
    _, frame = two_targets("mixed", n=60)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    repeated = check_target(frame.loc[np.repeat(np.arange(60), weights)], "auto")
    ones = [Target.of_classes(frame["sign"].to_numpy(), weights.astype(float))]
    mean, scale = np.average(frame["size"], weights=weights), repeated.scale[1]
    ones.append(Target.of_values(frame["size"].to_numpy(), float(mean), float(scale), weights.astype(float)))
    weighted = Target.joined(ones, list(frame))
    np.testing.assert_allclose(np.repeat(weighted.values, weights, axis=0), repeated.values)


def test_every_target_has_a_function():
    values = np.random.default_rng(0).normal(size=(100, 20))
    assert target_functions(check_target(values, "auto")).shape == (100, 20)


def test_a_rare_label_does_not_hide_what_others_depend_on():
    X, y = two_targets("multilabel", n=300)
    rare = np.zeros(300, dtype=int)
    rare[[5, 50, 150]] = 1
    targets = np.column_stack([y[:, 0], rare, y[:, 1]])
    assert found(L1LSMI(3, p_value=False, pool=None).fit(X, targets)) == TRUE
    terms = TermSearch(Table.of(X), check_target(targets, "auto"), np.arange(12), np.random.default_rng(0))
    assert terms.search(3) == (0, 1, 4) and terms.n_responses == 2


def test_rows_leave_out_targets_that_are_constant_there():
    y = np.array([[0, 1], [0, 2], [1, 3]])
    assert target_rows(y, np.array([0, 1])).tolist() == [[1], [2]]
    assert target_rows(y[:, 0], np.array([0, 1])).tolist() == [0, 0]


# -- survival --------------------------------------------------------------------------------


def test_martingale_residuals():
    # Two events at time 2 among three rows at risk, one event at 5 among the last one.
    time, event = np.array([1.0, 2.0, 2.0, 5.0]), np.array([False, True, True, True])
    hazard = CumulativeHazard.of(time, event)
    np.testing.assert_allclose(
        hazard.at(np.array([0.0, 1.9, 2.0, 4.9, 5.0, 9.0])), [0, 0, 2 / 3, 2 / 3, 5 / 3, 5 / 3]
    )
    residuals = hazard.residuals(time, event)
    np.testing.assert_allclose(residuals, [0, 1 / 3, 1 / 3, -2 / 3])
    assert residuals.sum() == pytest.approx(0)


def test_martingale_residuals_with_weights_are_those_of_repeated_rows():
    _, y = hazards(n=50)
    time, event = np.round(y["time"], 1), y["event"]
    weights = np.random.default_rng(0).integers(1, 4, size=50)
    one = Target.of_survival(time, event, weights.astype(float))
    other = Target.of_survival(np.repeat(time, weights), np.repeat(event, weights))
    np.testing.assert_allclose(np.repeat(one.values, weights), other.values)


def test_survival_in_every_form():
    X, y = hazards()
    reference = check_target(y, "auto")
    assert reference.task == "survival" and reference.values.ndim == 1
    columns = np.column_stack([y["time"], y["event"]])
    frame = pd.DataFrame({"time": y["time"], "event": y["event"]})
    for other in (
        columns,
        frame,
        pl.DataFrame({"t": y["time"], "e": y["event"].astype(int)}),
        columns.tolist(),
    ):
        np.testing.assert_allclose(check_target(other, "survival").values, reference.values)
    np.testing.assert_allclose(check_target(y, "survival").values, reference.values)
    one, other = L1HSIC(3).fit(X, y), L1HSIC(3, task="survival").fit(X, frame)
    np.testing.assert_array_equal(one.weights_, other.weights_)


# -- what else takes targets -----------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, "survival"])
def test_density_ratios(kind):
    X, y = hazards() if kind == "survival" else two_targets(kind)
    estimate = SquaredMutualInformation(random_state=0).estimate(X[:, :5], y)
    rows = y.iloc[:7] if kind == "mixed" else y[:7]
    ratio = estimate.density_ratio(X[:7, :5], rows)
    assert ratio.shape == (7,) and np.isfinite(ratio).all()
    if kind == "mixed":
        assert estimate.center_targets.shape[1] == 2
        unknown = rows.assign(sign="zero")
        assert (estimate.density_ratio(X[:7, :5], unknown) == 0).all()
        with pytest.raises(ValueError, match="pass 2 targets per row"):
            estimate.density_ratio(X[:7, :5], rows["size"])


@pytest.mark.parametrize("kind", ["multilabel", "mixed", "survival"])
def test_explanations_and_reports(kind):
    X, y = hazards(n=120) if kind == "survival" else two_targets(kind, n=120, m=6)
    selector = L1HSIC(3).fit(X, y)
    explained = explain_selection(selector, X, y)
    assert len(explained.contributions.names) == 3
    assert pair_terms(X, y).n_rows == 120
    report = collect(selector, X, y, target=["one", "other"])
    assert report["asked"]["task"] == ("survival" if kind == "survival" else "several")
    assert report["asked"]["target"] == "one, other"
    errors = {row["role"]: row["error"] for row in report["held_out"]["rows"]}
    assert errors["none"] == pytest.approx(1) and errors["selection"] < 1
    assert len(report["plots"]["features"]) == (3 if kind == "survival" else 6)
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(report, schema())
    assert "martingale" in render(report) if kind == "survival" else "against" in render(report)


def test_comparison_by_a_standardised_error():
    X, y = two_targets("mixed")
    selectors = {"hsic": L1HSIC(3), "correlation": FeatureSelector(Pearson(), Ranking(), 3)}
    comparison = compare_selectors(selectors, X, y, n_splits=1)
    assert comparison.task == "several" and comparison.guess == 1
    errors = {result.name: result.error for result in comparison}
    assert errors["hsic"] < 0.5 < errors["correlation"]


def test_errors_of_one_column_are_refused_for_several():
    X, y = two_targets("numeric", n=40)
    for error in (lambda: svm_error(X, y), lambda: held_out_error(X, y, X, y)):
        with pytest.raises(ValueError, match=r"has 2 targets, but \w+ measures the error of one column"):
            error()


@pytest.mark.parametrize("kind", ["multilabel", "mixed", "survival"])
def test_inference(kind):
    X, y = hazards() if kind == "survival" else two_targets(kind, m=8)
    true = [2, 5, 7] if kind == "survival" else TRUE
    stable = StabilitySelector(L1HSIC(3), n_resamples=4, threshold=1.0, random_state=0).fit(X, y)
    assert found(stable) == true
    groups = np.arange(len(X)) // 2
    assert permutation_test(HSIC(), X[:, true], y, n_permutations=19, random_state=0).p_value == 0.05
    assert (
        permutation_test(HSIC(), X[:, true], y, groups=groups, n_permutations=19, random_state=0).p_value
        <= 0.1
    )
    knockoffs = KnockoffSelector(ReliefF(), fdr=0.5, offset=0, random_state=0).fit(X, y)
    assert set(true) & set(found(knockoffs))


def test_parts_of_the_rows_in_which_all_have_the_event():
    X, y = hazards(n=60)
    y["event"][1:] = True
    columns = np.column_stack([y["time"], y["event"]])
    stable = StabilitySelector(QPFS(3, task="survival"), n_resamples=4, random_state=0).fit(X, columns)
    assert stable.n_resamples_ == 4
    comparison = compare_selectors({"qpfs": QPFS(3)}, X, columns, task="survival", n_splits=1)
    assert comparison.task == "survival" and comparison.results[0].failure is None
    assert (
        permutation_test(HSIC(task="survival"), X, columns, n_permutations=9, random_state=0).p_value == 0.1
    )


def test_halves_without_a_rare_label():
    X = np.random.default_rng(0).normal(size=(100, 5))
    rare = np.zeros(100, dtype=int)
    rare[0] = 1
    targets = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, rare]).astype(int)
    assert found(StabilitySelector(QPFS(2), n_resamples=4, random_state=0).fit(X, targets)) == [0, 1]


def test_tags():
    assert get_tags(L1LSMI()).target_tags.multi_output
    assert get_tags(StabilitySelector(MRMR())).target_tags.multi_output
    assert not get_tags(SPEC(graph="unsupervised")).target_tags.multi_output
    tags = get_tags(L1LSMI()).target_tags
    assert tags.required and not tags.two_d_labels


# -- warnings --------------------------------------------------------------------------------


def test_columns_that_give_away_one_of_the_targets():
    X, y = two_targets("mixed")
    y["third"] = np.digitize(X[:, 3], [-0.5, 0.5]).astype(str)
    X[:, 6], X[:, 7] = y["size"], pd.factorize(y["third"])[0]
    said = data_warnings(Table.of(X), check_target(y, "auto"), None)
    assert len(said) == 3
    assert said[0].startswith("Column 'x6' gives away target 'size', as it is a copy of target 'size'")
    assert said[2].startswith("Column 'x3' gives away target 'third', as it tells the classes apart")
    assert said[1].startswith("Column 'x7' gives away target 'third', as it is constant within each class")


def test_leaks_are_checked_on_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 60))
    y = np.column_stack([rng.normal(size=12_000), X[:, 0] + X[:, 1]])
    X[:, 7] = y[:, 1]
    (said,) = data_warnings(Table.of(X), check_target(y, "auto"), None)
    assert said.startswith("Column 'x7' gives away target '1'")


# -- sources ---------------------------------------------------------------------------------


def test_targets_of_files_blocks_and_dask(tmp_path):
    dask_frame = pytest.importorskip("dask.dataframe")
    X, y = two_targets("mixed", m=6)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(6)]).assign(sign=y["sign"], size=y["size"])
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path)
    in_memory = L1HSIC(3).fit(X, y)

    def blocks():
        return ((X[i : i + 50], y.iloc[i : i + 50]) for i in range(0, 250, 50))

    names = ["sign", "size"]
    dask = dask_frame.from_pandas(frame, npartitions=3)
    for rows, targets in ((path, names), (str(path), tuple(names)), (blocks, None), (dask, names)):
        selector = L1HSIC(3).fit(rows, targets)
        np.testing.assert_allclose(selector.weights_, in_memory.weights_, rtol=1e-6)
    x, targets = read_sample(path, names, 40, random_state=0)
    assert x.shape == (40, 6) and targets.shape == (40, 2)
    for rows in (path, dask):
        with pytest.raises(ValueError, match=r"y names 'none', but .* has no such column"):
            L1HSIC(3).fit(rows, ["sign", "none"])
        with pytest.raises(ValueError, match="y names column 'sign' twice"):
            L1HSIC(3).fit(rows, ["sign", "sign"])
    frame.assign(sign=["plus"] * 250).to_parquet(path)
    with pytest.raises(ValueError, match="Column 'sign' of y has one class only, 'plus'"):
        L1HSIC(3).fit(path, names)


# -- bad input -------------------------------------------------------------------------------

ROWS = 12
GOOD = np.linspace(0.5, 3, ROWS)


def structured(time=GOOD, event=True, kinds=(bool, float)):
    y = np.empty(ROWS, dtype=[("event", kinds[0]), ("time", kinds[1])])
    y["event"], y["time"] = event, time
    return y


MISSING = np.where(GOOD > 2, np.nan, GOOD)


def columns(*values):
    return pd.DataFrame({"a": GOOD, **dict(zip("bc", values, strict=False))})


BAD = {
    "constant": (columns(np.full(ROWS, 1.5)), "regression", "Column 'b' of y is constant, 1.5 in every row"),
    "one class": (columns(["u"] * ROWS), "auto", "Column 'b' of y has one class only, 'u'"),
    "missing number": (np.column_stack([GOOD, MISSING]), "auto", "Input column 1 of y contains NaN"),
    "missing label": (columns(["u", None] * 6), "auto", "Input column 'b' of y contains NaN or None"),
    "missing category": (
        columns(pd.Categorical(["u", None, "v"] * 4)),
        "auto",
        "Input column 'b' of y contains NaN or None",
    ),
    "text as numbers": (columns(["u", "v"] * 6), "regression", "Column 'b' of y has values that are not"),
    "fractions as classes": (columns(GOOD), "classification", "column 'a' of y has numbers with fractions"),
    "too few rows": (columns(GOOD**2)[:5], "auto", "X has 12 rows, but y has 5"),
    "ragged": ([[1.0, 2.0]] * 11 + [[1.0]], "auto", "y has rows of different lengths"),
    "no columns": (np.empty((ROWS, 0)), "auto", "with no columns: pass one column for each target"),
    "three dimensions": (np.zeros((ROWS, 2, 2)), "auto", "y must be one label or number per row"),
    "negative time": (structured(-GOOD), "auto", "y has the negative time -3: pass times of at least 0"),
    "missing time": (structured(MISSING), "auto", "contains NaN or infinity among times or events"),
    "no event": (structured(event=False), "auto", "y has no event, all rows are censored"),
    "one time": (structured(2.0), "auto", "y has the same martingale residual in every row"),
    "event": (columns(np.arange(ROWS)), "survival", "y has the event 2, which is neither 0 nor 1"),
    "swapped": (np.column_stack([GOOD > 1, GOOD]), "survival", "pass .time, event."),
    "one column": (GOOD, "survival", "y has 1 column, but task='survival' needs two"),
    "three columns": (columns(GOOD, GOOD), "survival", "y has 3 columns, but task='survival' needs two"),
    "text as event": (columns(["dead"] * ROWS), "survival", "times or events that are not numbers"),
    "fields": (structured(kinds=(float, float)), "auto", "a structured array with 'event' of type float64"),
    "task": (structured(), "regression", "which is for survival times, but task='regression'"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("make", [L1LSMI, L1HSIC, MRMR], ids=lambda make: make.__name__)
def test_bad_targets(make, case):
    y, task, message = BAD[case]
    X = np.random.default_rng(0).normal(size=(ROWS, 3))
    with pytest.raises(ValueError, match=message) as raised:
        make(1, task=task).fit(X, y)
    assert "\n" not in str(raised.value) and str(raised.value).endswith(".")


def test_a_sparse_target_is_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(
        ValueError, match=r"y is a sparse matrix, which is not supported: pass y.toarray\(\)."
    ):
        L1HSIC(1).fit(np.random.default_rng(0).normal(size=(4, 2)), sparse.csr_array(np.eye(4)))


def test_many_whole_numbers_in_one_of_the_columns():
    y = np.column_stack([np.arange(40), np.arange(40) % 2])
    with pytest.warns(UserWarning, match="Column 0 of y has 40 different whole numbers"):
        check_target(y, "auto")


# -- files and the command line --------------------------------------------------------------


@pytest.fixture
def table(tmp_path):
    X, y = two_targets("mixed", n=120, m=6)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(6)]).round(4)
    frame = frame.assign(**{"sign": y["sign"], "size": y["size"].round(4), "c0,size": np.arange(120) % 2})
    frame.loc[3, "size"] = np.nan
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


def run(*arguments):
    state = {"debug": True, "json": False, "printed": False}
    return CliRunner().invoke(app, list(map(str, arguments)), obj=state, catch_exceptions=True)


def test_prepared_targets(table):
    data = prepare(read_table(table), ["sign", "size"], drop=["c0,size"])
    assert isinstance(data.y, TargetTable) and data.y.shape == (119, 2)
    assert data.targets == ("sign", "size") and data.tasks == ("classification", "regression")
    assert data.task == "auto" and data.feature_names == tuple(f"c{j}" for j in range(6))
    assert repr(data) == "<119 rows, 6 features, prediction of 'sign', 'size'>"
    assert found(L1HSIC(3).fit(data.X, data.y)) == TRUE
    assert [use.used_as for use in data.columns if use.name in data.targets] == ["target", "target"]
    with pytest.raises(FileProblem, match="The target 'sign' is named twice"):
        prepare(read_table(table), ["sign", "sign"])
    with pytest.raises(FileProblem, match="needs two columns, the time and then the event"):
        prepare(read_table(table), "size", task="survival")
    with pytest.raises(FileProblem, match="The target 'sign' has text, but survival needs"):
        prepare(read_table(table), ["size", "sign"], task="survival")


def test_targets_of_the_command_line(table, tmp_path):
    out, saved = tmp_path / "out.csv", tmp_path / "saved.json"
    result = run(
        *("select", table, "-t", "sign,size", "-k", 3, "-m", "l1-hsic", "--drop", "c0,size"),
        *("--json", "--output", out, "--save", saved),
    )
    assert result.exception is None, result.output
    document = json.loads(saved.read_text())
    assert document["target"] == "sign, size" and document["task"] == "mixed" and document["classes"] is None
    assert document["targets"] == [
        {"name": "sign", "task": "classification", "classes": ["minus", "plus"]},
        {"name": "size", "task": "regression", "classes": None},
    ]
    assert document["columns"] == ["c0", "c1", "c4"]
    assert pd.read_csv(out).columns.tolist() == ["c0", "c1", "c4", "sign", "size"]
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(document, json.loads(run("schema", "select").output))


def test_a_name_with_a_comma_comes_first(table):
    result = run("select", table, "-t", "c0,size", "-k", 2, "-m", "pearson", "--json")
    document = json.loads(result.output)
    assert [target["name"] for target in document["targets"]] == ["c0,size"]
    result = run("select", table, "-t", "sign,c0,size", "-k", 2, "-m", "pearson", "--json")
    assert [target["name"] for target in json.loads(result.output)["targets"]] == ["sign", "c0,size"]


def test_survival_of_the_command_line(tmp_path):
    X, y = hazards()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(8)])
    frame.assign(time=y["time"], event=y["event"].astype(int)).to_csv(tmp_path / "rows.csv", index=False)
    arguments = ("-t", "time,event", "--task", "survival", "-k", 3, "-m", "l1-hsic", "--json")
    document = json.loads(run("select", tmp_path / "rows.csv", *arguments).output)
    assert document["columns"] == ["c2", "c5", "c7"] and document["task"] == "survival"
    measured = json.loads(
        run("measure", tmp_path / "rows.csv", *arguments[:4], "--measures", "pearson", "--json").output
    )
    assert measured["task"] == "survival" and measured["features"][0]["column"] in ("c2", "c5", "c7")
