"""Columns that give away the target or number sorted rows, and copies: found, and said everywhere alike."""

import os
import pickle
import warnings
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets

from l1lsmi import L1LSMI
from l1lsmi._cli.app import run
from l1lsmi._numerics.leaks import Leaks, find_leaks
from l1lsmi._numerics.leaks.copies import most_unexplained
from l1lsmi._numerics.leaks.of_order import depends_on_order
from l1lsmi._numerics.leaks.sample import chance_of_correlation, log_chance_of_order, ranks
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi._warnings import DataWarning, Sentence, of_part_of_rows, renamed
from l1lsmi.explain import data_warnings
from l1lsmi.report import collect, render, schema
from l1lsmi.sources import open_rows
from tests.conftest import TASKS, to_library
from tests.matrix import SELECTORS

BUNDLED = ("iris", "wine", "breast_cancer", "diabetes", "digits")
REAL = os.environ.get("L1LSMI_DATA")
#: Real tables with columns that truly are copies.
HAVE_COPIES = ("BASEHOCK", "PCMAC", "ctslices_first682")
NOISE = np.sqrt(1 / 0.999**2 - 1)


def leaks_of(X, y, task):
    return find_leaks(Table.of(np.asarray(X, dtype=np.float64)), check_target(y, task))


def bundled(name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y, "regression" if name == "diabetes" else "classification"


def made(task, n=300, m=6, seed=5):
    """Independent columns, and a target that depends on two of them, not on the order of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    signal = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)
    return X, signal if task == "regression" else np.digitize(signal, [0.0, 1.5])


def noisy(x, rng):
    return x + NOISE * x.std() * rng.normal(size=len(x))


def groups(leaks):
    return {"copies": leaks.copies, "functions": leaks.functions, "near": leaks.near}


# -- derived values ---------------------------------------------------------------------------


def test_ranks_of_ties_are_their_mean():
    assert ranks(np.array([[3.0], [1.0], [3.0], [2.0]]))[:, 0].tolist() == [3.5, 1.0, 3.5, 2.0]


def test_chance_of_an_order_counts_arrangements():
    # Two ones in four rows can be in six places; four different values in 24 orders.
    x = np.array([[0.0, 1.0], [1.0, 2.0], [1.0, 3.0], [0.0, 4.0]])
    assert np.exp(log_chance_of_order(x)) == pytest.approx([1 / 6, 1 / 24])


def test_chance_of_a_correlation_is_that_of_the_t_test():
    from scipy.stats import pearsonr

    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 12))
    r, p = pearsonr(x, y)
    assert chance_of_correlation(np.array(r**2), 12) == pytest.approx(p)


def test_near_copies_may_vary_as_estimates_do():
    # 0.002 is unexplained at a correlation of 0.999; of 200 rows one standard deviation is a tenth of it.
    assert most_unexplained(200) == pytest.approx(0.002 * 1.4)


@pytest.mark.parametrize("task", TASKS)
def test_order_of_the_rows(task):
    _, y = made(task)
    assert not depends_on_order(check_target(y, task))
    assert depends_on_order(check_target(np.sort(y), task))
    assert depends_on_order(check_target(np.sort(y)[::-1], task))
    periods = np.tile(np.repeat(np.sort(y)[::60], 10), 6)
    assert depends_on_order(check_target(periods, task))


# -- what is found ----------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n", [40, 100, 300])
def test_columns_of_the_target(task, n):
    X, y = made(task, n)
    rng = np.random.default_rng(1)
    code = {0: 3.0, 1: -7.0, 2: 5.0}  # in no order: any function of the class gives it away
    function = np.exp(y) if task == "regression" else np.array([code[c] for c in y])
    wide = np.column_stack([X, -2.0 * y + 1, function, noisy(y.astype(float), rng)])
    found = leaks_of(wide, y, task)
    assert [leak.column for leak in found.of_target] == [6, 7, 8]
    kinds = ["copy", "function", "near"] if task == "regression" else ["function", "function", "near"]
    assert [leak.kind for leak in found.of_target] == kinds
    assert found == Leaks(of_target=found.of_target)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("n", [40, 100, 300])
def test_columns_of_other_columns(task, n):
    X, y = made(task, n)
    rng = np.random.default_rng(1)
    wide = np.column_stack([X, 5 - X[:, 2], np.exp(X[:, 3]), -noisy(X[:, 4], rng), X[:, 2]])
    found = leaks_of(wide, y, task)
    assert groups(found) == {"copies": ((2, 6, 9),), "functions": ((3, 7),), "near": ((4, 8),)}
    assert found.of_target == () and found.numberings == ()


@pytest.mark.parametrize("task", TASKS)
def test_numbers_of_sorted_rows(task):
    X, y = made(task)
    irregular = np.cumsum(np.random.default_rng(0).exponential(size=len(y)))
    wide = np.column_stack([X, np.arange(len(y)), -irregular])
    assert leaks_of(wide, y, task).numberings == ()
    order = np.argsort(y, kind="stable")
    wide[:, :6], y = wide[order, :6], y[order]
    found = leaks_of(wide, y, task)
    named = {j for j, _ in found.numberings} | {leak.column for leak in found.of_target}
    assert named == {6, 7}
    if task == "classification":
        assert found.numberings == ((6, 1), (7, -1))


@pytest.mark.parametrize("n", [300, 12_000])
def test_classes_that_share_no_range_of_values(n):
    X, _ = made("regression", n)
    X[:, 2] = np.exp(3 * X[:, 2]) * (np.random.default_rng(1).random(n) < 0.4)
    (leak,) = leaks_of(X, X[:, 2] > 0, "classification").of_target
    assert (leak.column, leak.kind) == (2, "ranges")
    assert data_warnings(X, X[:, 2] > 0)[0].startswith(
        "Column 'x2' gives away the target, as it tells the classes apart without error"
    )
    three = np.digitize(X[:, 0], [-1.0, 0.5])
    assert [leak.kind for leak in leaks_of(X, three, "classification").of_target] == ["ranges"]
    # One row of another class in the midst of them, also where it is not in the sample of many rows.
    for row in (0, n // 2):
        wrong = X[:, 2] > 0
        wrong[row] = ~wrong[row]
        assert leaks_of(X, wrong, "classification").of_target == ()
    # Of few rows, it may be chance.
    few = np.flatnonzero(X[:, 2] > 0)[:3].tolist() + np.flatnonzero(X[:, 2] == 0)[:3].tolist()
    assert leaks_of(X[few], X[few, 2] > 0, "classification").of_target == ()


@pytest.mark.parametrize("task", TASKS)
def test_independent_columns_give_no_alarm(task):
    for seed in range(20):
        X, y = made(task, n=[10, 30, 200][seed % 3], m=40, seed=seed)
        assert leaks_of(X, y, task) == Leaks()


def test_few_rows_give_no_alarm_by_chance():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = np.column_stack([rng.normal(size=(5, 200)), rng.integers(0, 2, (5, 200))])
        assert leaks_of(X, np.array([0, 0, 1, 1, 1]), "classification") == Leaks()
        assert leaks_of(X, rng.normal(size=5), "regression") == Leaks()


def test_rare_values():
    rng = np.random.default_rng(0)
    X = np.zeros((400, 6))
    X[0, 0] = X[0, 1] = 1.0  # equal, but any two rare columns may be
    X[3:40, 2] = X[3:40, 3] = 1.0
    X[50:90, 4] = 1.0
    X[50:91, 5] = 1.0  # correlation 0.986
    y = rng.integers(0, 2, 400)
    assert groups(leaks_of(X, y, "classification")) == {"copies": ((2, 3),), "functions": (), "near": ()}


def test_a_shared_outlier_makes_no_copies():
    X, y = made("regression")
    X[7], y[7] = 1e6, 1e6
    assert leaks_of(X, y, "regression") == Leaks()


def test_neighbours_in_a_spectrum_are_no_copies():
    rng = np.random.default_rng(0)
    steps = np.cumsum(rng.normal(size=(300, 200)) * 0.04, axis=1) + rng.normal(size=(300, 1))
    largest = np.abs(np.corrcoef(steps.T)) - np.eye(200)
    assert largest.max() > 0.999
    assert leaks_of(steps, rng.normal(size=300), "regression") == Leaks()


def test_a_difference_that_predicts_the_target_is_no_noise():
    X, _ = made("regression")
    noise = np.random.default_rng(1).normal(size=len(X))
    wide = np.column_stack([X, X[:, 0] + NOISE * noise])
    assert leaks_of(wide, noise + 0.3 * X[:, 3], "regression") == Leaks()


@pytest.mark.parametrize("task", TASKS)
def test_tables_that_are_odd(task):
    X, y = made(task)
    X[:, 0] = 3.0
    X[:, 1] *= 1e300
    X[:, 2] = np.sign(X[:, 2]) * np.exp(np.abs(X[:, 2]) ** 3)
    assert leaks_of(X, y, task) == Leaks()
    assert leaks_of(X[:, 1:2], y, task) == Leaks()
    assert leaks_of(np.column_stack([X, X[:, 1]]), y, task).copies == ((1, 6),)


def test_classes_with_single_rows_are_not_given_away():
    X, _ = made("regression", n=30)
    assert leaks_of(X, np.arange(30) // 2 * 2 + (np.arange(30) > 25), "classification").of_target == ()
    assert leaks_of(X, np.array([f"row {i}" for i in range(30)]), "classification").of_target == ()


def test_several_targets():
    X, y = made("regression")
    both = np.column_stack([y, X[:, 3] - X[:, 2]])
    values = check_target(y, "regression")
    target = type(values).of_values(both, both.mean(axis=0), both.std(axis=0))
    found = find_leaks(Table.of(np.column_stack([X, both[:, 1] ** 3])), target)
    assert [leak.column for leak in found.of_target] == [6]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.sampled_from(TASKS))
def test_shift_scale_and_order_of_columns_do_not_matter(seed, task):
    X, y = made(task, n=120)
    rng = np.random.default_rng(seed)
    wide = np.column_stack([X, X[:, 0], np.exp(X[:, 1]), noisy(X[:, 2], np.random.default_rng(1)), y])
    order = rng.permutation(wide.shape[1])
    factors = np.exp(rng.normal(size=order.size) * 3) * rng.choice([-1, 1], order.size)
    moved = wide[:, order] * factors + rng.normal(size=order.size) * 10
    before, after = leaks_of(wide, y, task), leaks_of(moved, y, task)
    place = {int(j): i for i, j in enumerate(order)}
    for kind, found in groups(before).items():
        expected = {tuple(sorted(place[j] for j in group)) for group in found}
        assert set(groups(after)[kind]) == expected
    assert [leak.column for leak in after.of_target] == [place[leak.column] for leak in before.of_target]


# -- real tables ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BUNDLED)
def test_no_alarm_on_bundled_tables(name):
    X, y, task = bundled(name)
    assert leaks_of(X, y, task) == Leaks()


@pytest.mark.parametrize("name", BUNDLED)
@pytest.mark.parametrize("n", [100, None])
def test_columns_put_into_bundled_tables_are_found(name, n):
    X, y, task = bundled(name)
    rng = np.random.default_rng(3)
    rows = np.arange(len(y)) if n is None else np.sort(rng.choice(len(y), n, replace=False))
    X, y = X[rows], y[rows]
    m = X.shape[1]
    # A column with many values.
    j = int(np.argmax([len(np.unique(column)) for column in X.T]))
    z = (X[:, j] - X[:, j].mean()) / X[:, j].std()
    made_of_column = {"copies": 2.54 * z, "functions": -np.exp(z), "near": noisy(z, rng)}
    for kind, column in made_of_column.items():
        assert groups(leaks_of(np.column_stack([X, column]), y, task))[kind] == ((j, m),)
    target = (y - y.mean()) / y.std()
    for column in (y * 3.0, np.exp(target), noisy(target, rng)):
        assert [leak.column for leak in leaks_of(np.column_stack([X, column]), y, task).of_target] == [m]
    order = np.argsort(y, kind="stable")
    found = leaks_of(np.column_stack([X[order], np.arange(len(y))]), y[order], task)
    assert m in {k for k, _ in found.numberings} | {leak.column for leak in found.of_target}


@pytest.mark.skipif(REAL is None, reason="L1LSMI_DATA is not set to a directory with the real datasets")
def test_no_alarm_on_real_tables():
    for path in sorted(Path(REAL).glob("*.npz")):
        with np.load(path, allow_pickle=False) as data:
            X, y = data["X"], data["y"]
        found = leaks_of(X, y, "regression" if y.dtype.kind == "f" else "classification")
        assert found.of_target == () and found.numberings == () and found.near == (), path.stem
        assert (found == Leaks()) or path.stem in HAVE_COPIES, path.stem


# -- every way to the same sentences ----------------------------------------------------------


def planted(task, n=12_000):
    """More rows than a sample has, with one column of every kind, sorted by the target."""
    rng = np.random.default_rng(2)
    X, y = made(task, n)
    order = np.argsort(y, kind="stable") if task == "classification" else np.argsort(X[:, 0] + y)
    X, y = X[order], y[order]
    number = np.cumsum(rng.exponential(size=n))
    return np.column_stack([X, y * 2.0, X[:, 1], -np.exp(X[:, 2]), noisy(X[:, 3], rng), number]), y


def sentences(task):
    constant = "constant within each class" if task == "classification" else "a copy of the target"
    return [
        f"Column 'x6' gives away the target, as it is {constant}: leave it out unless it is known before the "
        "target is.",
        "Column 'x10' increases from row to row, and the target depends on the order of the rows: leave it "
        "out if it only numbers the rows.",
        "Columns 'x1' and 'x7' are copies of each other: one of them is enough.",
        "Columns 'x2' and 'x8' are monotone functions of each other: one of them is enough.",
        "Columns 'x3' and 'x9' are copies of each other except for noise (correlations of about 0.999): one "
        "of them is enough.",
    ]


def said(X, y, task):
    opened = open_rows(X, y)
    names = [f"x{j}" for j in range(opened.table.n_columns)]
    from l1lsmi._warnings import data_warnings as warnings_of

    return warnings_of(opened.table, check_target(opened.y, task), names)


@pytest.mark.parametrize("task", TASKS)
def test_all_rows_are_checked(task):
    X, y = planted(task)
    assert data_warnings(X, y, task=task) == sentences(task)
    rows = np.setdiff1d(np.arange(len(y)), np.random.default_rng(0).choice(len(y), 10_000, replace=False))
    # Rows that no sample has are other than the rest.
    spoilt = X.copy()
    spoilt[rows, 6:] = np.random.default_rng(1).normal(size=(rows.size, 5)) * X[:, 6:].std(axis=0)
    assert data_warnings(spoilt, y, task=task) == []


@pytest.mark.parametrize("task", TASKS)
def test_out_of_core_rows_give_the_same_sentences(task, tmp_path):
    X, y = planted(task)
    assert said(lambda: iter(np.array_split(X, 7)), y, task) == sentences(task)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=1_000)
    assert said(tmp_path / "table.parquet", "y", task) == sentences(task)
    assert said(pa.Table.from_pandas(frame), "y", task) == sentences(task)


def test_a_function_of_blocks_is_called_twice_at_most():
    X, y = planted("classification")
    calls = []

    def blocks():
        calls.append(1)
        return iter(np.array_split(X, 7))

    table = open_rows(blocks, y).table
    calls.clear()
    assert find_leaks(table, check_target(y, "classification")) != Leaks()
    assert len(calls) == 2  # for the sample, which a search uses again, and for all rows
    calls.clear()
    clean = open_rows(lambda: (calls.append(1), iter([X[:, :6]]))[1], np.random.default_rng(0).permutation(y))
    calls.clear()
    assert find_leaks(clean.table, check_target(clean.y, "classification")) == Leaks()
    assert len(calls) == 1


@pytest.mark.filterwarnings("ignore")
def test_dask_gives_the_same_sentences():
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    X, y = planted("classification")
    chunks = da.from_array(X, chunks=(1_700, -1))
    assert said(chunks, y, "classification") == sentences("classification")
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
        assert said(chunks, y, "classification") == sentences("classification")


@pytest.mark.parametrize("task", TASKS)
def test_array_libraries_give_the_same_sentences(library, task):
    for n in (300, 12_000):
        X, y = planted(task, n)
        assert data_warnings(to_library(X, library), y, task=task) == sentences(task)


@pytest.mark.parametrize("n", [300, 12_000])
@pytest.mark.parametrize("task", TASKS)
def test_float32_gives_the_same_sentences(task, n):
    X, y = planted(task, n)
    found = data_warnings(
        X.astype(np.float32), y.astype(np.float32) if task == "regression" else y, task=task
    )
    assert found == sentences(task)


# -- selectors --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_warns_once(name):
    from sklearn.base import clone

    X, y = planted("classification", 60)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(X, y)
    found = [w for w in caught if issubclass(w.category, UserWarning) and "give" in str(w.message)]
    expected = data_warnings(X, y) if selector._uses_target() else []
    assert selector.warnings_ == expected
    assert [str(w.message) for w in found] == ([" ".join(expected)] if expected else [])
    assert all(type(each.parts) is tuple for each in selector.warnings_)
    assert all(Path(w.filename) == Path(__file__) for w in found)
    assert pickle.loads(pickle.dumps(selector)).warnings_ == expected
    if expected:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert selector.fit(*made("classification", 60)).warnings_ == []


def test_of_parts_of_the_rows_nothing_is_looked_for():
    X, y = planted("classification", 60)
    with of_part_of_rows(), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert L1LSMI(2, p_value=False, pool=None).fit(X, y).warnings_ == []
    with pytest.warns(DataWarning, match="gives away the target"):
        L1LSMI(2, p_value=False, pool=None).fit(X, y)


def test_names_of_a_data_frame():
    X, y = planted("classification", 100)
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])])
    with pytest.warns(UserWarning, match="Column 'column 6' gives away the target"):
        selector = L1LSMI(2, random_state=0).fit(frame, y)
    assert selector.warnings_[0].startswith("Column 'column 6' gives")
    assert data_warnings(frame, y) == selector.warnings_


def test_names_are_listed_briefly_and_escaped():
    X, y = made("classification", 200)
    wide = np.column_stack([X, *(y * 1.0 for _ in range(9)), *(X[:, j] for j in (0, 0, 0, 0, 0, 1, 2, 3, 4))])
    names = [f"x{j}" for j in range(wide.shape[1])]
    names[6], names[7], names[0] = "\x1b[31m\u202e\n", "y" * 500, "<script>"
    given_away, copies = data_warnings(wide, y, feature_names=names)
    cut = "y" * 57 + "..."
    assert given_away.startswith(
        f"Columns '\\x1b[31m\\u202e\\n', '{cut}', 'x8', 'x9' and 5 more give away the target, as they are "
        "constant within each class: leave them out"
    )
    assert copies == (
        "Columns '<script>', 'x15', 'x16', 'x17' and 2 more; 'x1' and 'x20'; 'x2' and 'x21'; and 2 more "
        "groups of columns are copies of each other: one of each group is enough."
    )


@pytest.mark.parametrize("task", TASKS)
def test_what_is_nearly_all_is_not_said_to_be_all(task):
    X, y = made(task)
    wide = np.column_stack([X, y + 1e-3 * np.random.default_rng(1).normal(size=len(y))])
    (sentence,) = data_warnings(wide, y, task=task)
    what = {
        "classification": "nearly constant within each class (99.9 % of the variance is between the classes)",
        "regression": "nearly a copy or a monotone function of the target (correlation 0.999)",
    }[task]
    assert sentence.startswith(f"Column 'x6' gives away the target, as it is {what}: leave it out")


def test_sentences_keep_braces_and_are_renamed():
    sentence = Sentence(["Column ", 0, " is {odd}."], ["{0}"])
    assert sentence == "Column '{0}' is {odd}."
    assert renamed([sentence, "Plain."], ["a"]) == ["Column 'a' is {odd}.", "Plain."]


# -- the command line and the report ----------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    X, y = planted("classification", 200)
    names = [f"x{j}" for j in range(X.shape[1])]
    names[6] = "<img src=x onerror=alert(1)>"
    path = tmp_path / "table.csv"
    pd.DataFrame(X, columns=names).assign(label=np.array(["a", "b", "c"])[y]).to_csv(path, index=False)
    return path, [each.replace("x6", names[6]) for each in sentences("classification")]


def test_commands_say_it_once(file, capfd):
    path, expected = file
    for command in (("select", "-k", 2), ("compare", "-k", 2, "--methods", "pearson", "--splits", 2)):
        assert run([command[0], str(path), "-t", "label", *map(str, command[1:])]) == 0
        out, err = capfd.readouterr()
        assert [line for line in out.splitlines() if line.startswith("Warning: ")] == [
            f"Warning: {each}" for each in expected
        ]
        assert "gives away" not in err and "UserWarning" not in err and "DataWarning" not in err
        assert out.index("Warning: ") < out.index("2 ")


def test_commands_print_it_as_json(file, capfd):
    import json

    path, expected = file
    for command in (("select", "-k", 2), ("compare", "-k", 2, "--methods", "pearson", "--splits", 2)):
        assert run([command[0], str(path), "-t", "label", "--json", *map(str, command[1:])]) == 0
        found = json.loads(capfd.readouterr().out)
        assert found["warnings"] == expected
        assert not any("gives away" in note for note in found["notes"])


def test_the_report_says_it_first(file, tmp_path, capfd):
    path, _ = file
    report = tmp_path / "report.html"
    assert run(["select", str(path), "-t", "label", "-k", "2", "--report", str(report)]) == 0
    assert "DataWarning" not in capfd.readouterr().err
    page = report.read_text(encoding="utf-8")
    assert "Column &#39;&lt;img src=x onerror=alert(1)&gt;&#39; gives away the target" in page
    assert "<img src=x" not in page
    assert page.index('id="warnings"') < page.index('id="answer"')


def test_report_of_a_selector():
    X, y = planted("classification", 100)
    with pytest.warns(UserWarning, match="gives away"):
        selector = L1LSMI(2, random_state=0, n_restarts=1).fit(X, y)
    names = [f"name {j}" for j in range(X.shape[1])]
    report = collect(selector, X, y, feature_names=names, held_out=False, max_rows=40)
    jsonschema.validate(report, schema())
    assert (
        report["warnings"] == renamed(selector.warnings_, names) == data_warnings(X, y, feature_names=names)
    )
    clean = L1LSMI(2, random_state=0, n_restarts=1).fit(X[:, :6], np.random.default_rng(0).permutation(y))
    report = collect(clean, X[:, :6], y, held_out=False, max_rows=40)
    assert report["warnings"] == [] and 'id="warnings"' not in render(report)
