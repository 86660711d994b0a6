"""The framework of the experiments: files, seeds, rows, failures, and results that survive anything."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from experiments import config as config_module
from experiments import problem as problem_module
from experiments import unit as unit_module
from experiments.__main__ import main
from experiments.config import Config, config_names, read_config
from experiments.method import KINDS, Method
from experiments.problem import Real, k_of_table, ks_of_figure
from experiments.record import ChangedConfigError
from experiments.registry import all_methods, all_problems
from experiments.run import plan, run
from experiments.seeds import stable_seed
from experiments.store import SCHEMA, InUseError, Store, cell_of
from experiments.unit import Desk, Unit
from l1lsmi import datasets

ROOT = Path(__file__).parent.parent
TOYS = ("and_or", "quad", "xor")
QUICK = ["pc", "mrmr", "relief"]
SECONDS = {"select_seconds", "evaluate_seconds"}


def small(**changes):
    settings = {"experiment": "small", "protocols": ("toy",), "datasets": TOYS, "methods": ("pc", "relief")}
    return Config(**{**settings, "trials": 2, "n_samples": 60, **changes})


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name not in SECONDS} for row in rows]


# -- files --------------------------------------------------------------------------------------------


def test_every_file_has_what_it_is_named_after():
    for folder, found in (("methods", all_methods()), ("datasets", all_problems())):
        files = {path.stem for path in (ROOT / "experiments" / folder).glob("[a-z]*.py")}
        assert files == set(found)
        assert len({thing.label for thing in found.values()}) == len(found)


def test_datasets_are_those_of_the_paper():
    real = {name: problem for name, problem in all_problems().items() if isinstance(problem, Real)}
    assert set(real) == set(datasets.names())
    assert set(all_problems()) - set(real) == set(TOYS)
    # The paper's table: k, and whether the target has classes.
    assert {name for name, problem in real.items() if problem.k == 10} == {
        *("satimage", "spectf", "senseval2", "speech", "sonar", "msd")
    }
    assert {name for name, p in real.items() if p.k == 20} == {"musk1", "musk2", "ctslices", "isolet"}
    assert {name for name, p in real.items() if p.n_classes == 0} == {
        *("abalone", "cpuact", "ctslices", "housing", "msd")
    }
    assert all((p.task == "regression") == (p.n_classes == 0) for p in real.values())


@pytest.mark.parametrize("name", sorted(all_methods()))
def test_methods_are_well_described(name):
    method = all_methods()[name]
    assert method.kind in KINDS and callable(method.select)
    reason = method.reason_to_skip(all_problems()["xor"])
    assert reason is None or reason.startswith("needs ")


PAPER_METHODS = [
    *("pc", "f_hsic", "f_lsmi", "b_hsic", "b_lsmi", "l1_hsic", "l1_lsmi", "mrmr", "qpfs", "lasso", "relief"),
    *("l1_lsmi_paper", "l1_hsic_paper"),
]


@pytest.mark.parametrize(
    ("name", "toy"),
    # Algorithm 1 with the paper's settings takes its time: once is enough.
    [
        (name, toy)
        for name in PAPER_METHODS
        for toy in ("xor", "quad")
        if (name, toy) != ("l1_lsmi_paper", "quad")
    ],
)
def test_methods_select_exactly_k(name, toy):
    problem, method = all_problems()[toy], all_methods()[name]
    drawn = problem.draw(0, 60)
    X = np.hstack([drawn.X[:, :4], np.full((60, 1), 3.0)])  # a constant column is no reason to fail
    longer = [int(j) for j in method.select(X, drawn.y, 3, problem.task, 1)]
    assert len(set(longer)) == len(longer) == 3 and set(longer) <= set(range(4))
    if method.nested:
        assert [int(j) for j in method.select(X, drawn.y, 2, problem.task, 1)] == longer[:2]


def test_settings_of_the_paper():
    from experiments.methods.l1_lsmi_paper import median_distance

    # Two rows that differ by 2 standard deviations (of numpy) in each of 3 columns, one of them constant.
    X = np.array([[0.0, 10.0, 5.0, 7.0], [1.0, 30.0, 5.0, 4.0]])
    assert median_distance(X) == pytest.approx(np.sqrt(3 * 2**2))
    assert [k_of_table(m) for m in (8, 33, 36, 90, 166)] == [4, 4, 10, 10, 20]
    assert ks_of_figure(9) == (1, 2, 3, 4, 5, 6) and ks_of_figure(166) == (8, 16, 24, 32, 40, 48)
    assert ks_of_figure(5) == (1, 2, 3, 4)


def test_configurations_are_the_paper_s():
    assert config_names() == ["figure", "real", "subsets", "toys"]
    toys, real, figure = (read_config(name) for name in ("toys", "real", "figure"))
    assert (len(toys.methods), set(toys.datasets), toys.trials) == (11, set(TOYS), 50)
    assert set(datasets.names()) - set(real.datasets) == {"flaresolar"} and len(real.datasets) == 22
    assert real.protocols == ("paper", "held_out") and real.trials >= 20
    assert {name for name, method in all_methods().items() if method.in_paper is None} <= set(real.methods)
    assert (len(figure.methods), len(figure.datasets), figure.trials) == (7, 14, 20)


def test_unknown_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no configuration 'nothing': choose from figure"):
        read_config("nothing")
    with pytest.raises(ValueError, match="no method 'nothing': choose from b_hsic"):
        read_config("toys").with_choices(methods=["nothing"])
    with pytest.raises(ValueError, match="no dataset 'nothing': choose from abalone"):
        read_config("toys").with_choices(datasets=["nothing"])
    with pytest.raises(ValueError, match="trials must be at least 1, and was 0"):
        read_config("toys").with_choices(trials=0)
    (tmp_path / "own.toml").write_text('protocols = ["toy"]\ndatasetz = []\n')
    with pytest.raises(ValueError, match=r"own\.toml is not a configuration: .*datasetz"):
        read_config(str(tmp_path / "own.toml"))


# -- seeds and rows -----------------------------------------------------------------------------------


def test_seeds_are_the_same_everywhere():
    # Numbers that were published stand on this value.
    assert stable_seed(0, "sonar", 3, "relief") == 1224002030
    seeds = {stable_seed(0, d, t, m) for d in ("wine", "glass") for t in range(50) for m in ("pc", "mrmr")}
    assert len(seeds) == 200


@pytest.fixture
def made_up(monkeypatch):
    """Replace the data of every real dataset."""

    def install(n, n_groups=None, n_columns=6, task="classification"):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(n, n_columns))
        y = 50.0 + 9 * X[:, 0] if task == "regression" else (X[:, 0] * X[:, 1] > 0).astype(np.int64)
        groups = None if n_groups is None else rng.integers(0, n_groups, size=n)
        data = SimpleNamespace(X=X, y=y, groups=groups, partial=False)
        monkeypatch.setattr(problem_module.datasets, "load", lambda name: data)
        problem_module._load.cache_clear()
        return data

    yield install
    problem_module._load.cache_clear()


def test_rows_of_a_trial(made_up):
    german = all_problems()["german"]
    data = made_up(1000)
    first, again, second = german.draw(0), german.draw(0), german.draw(1)
    assert len(set(first.rows.tolist())) == 400
    np.testing.assert_array_equal(first.rows, again.rows)
    assert set(first.rows.tolist()) != set(second.rows.tolist())
    np.testing.assert_array_equal(first.X, data.X[first.rows])
    made_up(277)
    np.testing.assert_array_equal(german.draw(3).rows, np.arange(277))


def test_held_out_rows(made_up):
    german = all_problems()["german"]
    made_up(5000)
    train, test = german.split(2)
    np.testing.assert_array_equal(train.rows, german.draw(2).rows)
    assert len(test.rows) == 4000 and not set(train.rows.tolist()) & set(test.rows.tolist())
    made_up(300)
    train, test = german.split(2)
    assert len(train.rows) == 210 and sorted([*train.rows, *test.rows]) == list(range(300))
    made_up(1500, n_groups=30)
    train, test = german.split(2)
    assert not german.shares_rows()
    assert len(train.rows) == 400 and not set(train.groups.tolist()) & set(test.groups.tolist())


def test_targets_of_two_datasets_are_in_standard_deviations(made_up):
    made_up(100, task="regression")
    y = all_problems()["msd"].draw(0).y
    assert (y.mean(), y.std()) == (pytest.approx(0, abs=1e-12), pytest.approx(1))
    problem_module._load.cache_clear()
    assert all_problems()["housing"].draw(0).y.mean() == pytest.approx(50, abs=3)


# -- one trial ----------------------------------------------------------------------------------------


def method_of(name, select, **more):
    return Method(name=name, label=name, kind="filter", select=select, **more)


@pytest.fixture
def desk(monkeypatch):
    """A desk at which made-up methods are run."""

    def open_desk(*methods, **changes):
        known = {method.name: method for method in methods}
        for module in (unit_module, config_module):
            monkeypatch.setattr(module, "all_methods", lambda: known)
        config = small(methods=tuple(known), **changes)
        return Desk(Unit(config, config.datasets[0], 0, config.methods, {}))

    return open_desk


def test_a_failure_is_a_row_without_a_value(desk):
    def breaks(X, y, k, task, seed):
        raise ArithmeticError("it cannot be done\nsecond line")

    short = method_of("short", lambda X, y, k, task, seed: list(range(k - 1)))
    twice = method_of("twice", lambda X, y, k, task, seed: [0] * k)
    outside = method_of("outside", lambda X, y, k, task, seed: range(8, 8 + k))
    table = desk(method_of("breaks", breaks), short, twice, outside)
    expected = {
        "breaks": "ArithmeticError: it cannot be done",
        "short": "ValueError: 4 different columns were asked for, and [0, 1, 2] came back",
        "twice": "ValueError: 4 different columns were asked for, and [0, 0, 0, 0] came back",
        "outside": "ValueError: there are 10 columns, and [8, 9, 10, 11] came back",
    }
    for name, reason in expected.items():
        (row,) = table.rows_of(name)
        assert (row["status"], row["reason"], row.get("value"), row["k"]) == ("failed", reason, None, 4)


def test_what_cannot_be_run_is_skipped_with_a_reason(desk):
    needy = method_of("needy", lambda *rest: 1 / 0, needs=("no_such_package",))
    (row,) = desk(needy).rows_of("needy")
    reason = "needs no_such_package: pip install -e '.[experiments]'"
    assert (row["status"], row["reason"], row.get("value")) == ("skipped", reason, None)
    rows = desk(
        method_of("dear", lambda X, y, k, task, seed: range(k)),
        **{"datasets": ("xor",), "protocols": ("toy", "toy"), "paper_only": ("dear",)},
    ).rows_of("dear")
    reason = "run under the paper's protocol only, for its cost"
    assert [(row["status"], row["reason"]) for row in rows] == [("skipped", reason)] * 2
    lasso = all_methods()["lasso"]
    sets = {name: lasso.reason_to_skip(all_problems()[name]) for name in ("wine", "sonar", "housing")}
    assert sets == {
        "wine": "Lasso works on only binary and regression problems",
        "sonar": None,
        "housing": None,
    }


def test_missing_data_fail_every_method(monkeypatch):
    asked = []

    def load(name):
        asked.append(name)
        raise OSError(f"{name} is not in {Path.home()}")

    monkeypatch.setattr(problem_module.datasets, "load", load)
    problem_module._load.cache_clear()
    config = small(datasets=("wine",), protocols=("paper", "held_out"))
    table = Desk(Unit(config, "wine", 0, config.methods, {}))
    for name in config.methods:
        rows = table.rows_of(name)
        assert [(row["protocol"], row["status"], row["reason"]) for row in rows] == [
            ("paper", "failed", "OSError: wine is not in ~"),
            ("held_out", "failed", "OSError: wine is not in ~"),
        ]
    assert asked == ["wine"]


@pytest.fixture
def counted(monkeypatch):
    """Errors that cost nothing, and a count of how often they were asked for."""
    calls = []

    def error_of(kind):
        def error(X, *rest, **options):
            calls.append((kind, options["random_state"]))
            return SimpleNamespace(error=0.25, C=1.0, sigma_factor=2.0)

        return error

    monkeypatch.setattr(unit_module, "svm_error", error_of("paper"))
    monkeypatch.setattr(unit_module, "held_out_error", error_of("held_out"))
    return calls


def test_one_selection_and_one_evaluation_serve_all_that_share_them(desk, made_up, counted):
    made_up(1200)
    fits = []

    def select(X, y, k, task, seed):
        fits.append(k)
        return list(range(k))

    both = {"datasets": ("german",), "protocols": ("paper", "held_out"), "n_samples": 400}
    backwards = method_of("backwards", lambda X, y, k, task, seed: range(k - 1, -1, -1))
    table = desk(method_of("counts", select), backwards, **both)
    paper, held_out = table.rows_of("counts")
    assert fits == [4]  # both protocols select on the same rows
    assert paper["select_seconds"] is not None and held_out["select_seconds"] is None
    assert [kind for kind, _ in counted] == ["paper", "held_out"]
    assert (paper["n_train"], paper["n_test"], held_out["n_test"]) == (400, 0, 800)
    rows = table.rows_of("backwards")  # the same set in another order
    assert len(counted) == 2 and [row["value"] for row in rows] == [0.25, 0.25]
    assert all(row.get("evaluate_seconds") is None for row in rows)
    assert len({seed for _, seed in counted}) == 1  # the folds do not depend on the method

    made_up(1200, n_groups=20)
    fits.clear()
    desk(method_of("counts", select), **both).rows_of("counts")
    assert fits == [4, 4]  # with groups the protocols have rows of their own


def test_nested_methods_are_fitted_once_for_all_k(desk, made_up, counted):
    made_up(100, n_columns=30)
    fits = []

    def select(X, y, k, task, seed):
        fits.append(k)
        return list(range(k))

    several = {"datasets": ("german",), "protocols": ("paper",), "several_k": True}
    rows = desk(method_of("nested", select, nested=True), **several).rows_of("nested")
    assert fits == [6]
    assert [(row["k"], row["selected"]) for row in rows] == [(k, list(range(k))) for k in range(1, 7)]
    desk(method_of("each", select), **several).rows_of("each")
    assert fits == [6, 1, 2, 3, 4, 5, 6]


def test_real_data_under_both_protocols(desk, made_up):
    made_up(80)
    product = method_of("product", lambda X, y, k, task, seed: range(k))
    paper, held_out = desk(product, datasets=("german",), protocols=("paper", "held_out")).rows_of("product")
    assert [paper["status"], held_out["status"]] == ["done", "done"]
    # y is the sign of x0 x1: an SVM on columns 0 to 3 of 60 or 56 rows sees it, guessing errs in half.
    assert 0 <= paper["value"] < 0.4 and 0 <= held_out["value"] < 0.5
    assert (held_out["n_train"], held_out["n_test"]) == (56, 24)
    assert 0 < paper["redundancy"] < 0.5 and paper["metric"] == "error_rate"


# -- results ------------------------------------------------------------------------------------------


def test_rows_do_not_depend_on_order_or_processes_and_more_only_adds(tmp_path):
    first = run(small(), tmp_path / "a", jobs=1, verbose=False)
    assert (first.n_run, first.n_left, len(first.rows)) == (12, 0, 12)
    before = (tmp_path / "a" / "small.parquet").read_bytes()
    again = run(small(), tmp_path / "a", jobs=2, verbose=False)
    assert (again.n_run, again.rows) == (0, first.rows)
    assert (tmp_path / "a" / "small.parquet").read_bytes() == before
    assert not (tmp_path / "a" / "small.parts").exists()

    more = small(trials=3, methods=("relief", "mrmr", "pc"))
    added = run(more, tmp_path / "a", jobs=2, verbose=False)
    assert added.n_run == 27 - 12
    assert [row for row in added.rows if row["trial"] < 2 and row["method"] != "mrmr"] == first.rows
    at_once = run(more, tmp_path / "b", jobs=2, verbose=False)
    assert without_seconds(at_once.rows) == without_seconds(added.rows)
    assert {name for row in at_once.rows for name in row} == set(SCHEMA.names)


def test_data_are_read_from_the_given_directory(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(178, 13))  # as many as it has: other shapes are refused
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    np.savez(tmp_path / "wine.npz", X=X, y=y, feature_names=np.array([f"f{j}" for j in range(13)]))
    config = small(datasets=("wine",), methods=("pc",), protocols=("paper",), trials=1)
    (row,) = run(config, tmp_path / "out", jobs=1, data=str(tmp_path), verbose=False).rows
    assert (row["status"], row["reason"], row["n_train"]) == ("done", None, 60)
    assert 0 in row["selected"]


def test_subsets_of_and_or(tmp_path):
    config = small(protocols=("subset",), datasets=("and_or",), methods=("smi",), trials=1, n_samples=200)
    rows = run(config, tmp_path, jobs=1, verbose=False).rows
    assert len(rows) == len({tuple(row["selected"]) for row in rows}) == 35
    best = max(rows, key=lambda row: row["value"])
    # The four true features say everything: (C - 1) / 2 = 1/2 for two classes.
    assert best["selected"] == [0, 1, 2, 3] and best["value"] == pytest.approx(0.5, abs=0.05)
    assert {(row["method"], row["protocol"], row["k"], row["metric"]) for row in rows} == {
        ("smi", "subset", 4, "smi")
    }


def test_time_limit_leaves_the_rest_for_another_day(tmp_path):
    stopped = run(small(), tmp_path, jobs=1, time_limit=0, verbose=False)
    assert (stopped.n_run, stopped.n_left, stopped.rows) == (0, 12, [])
    assert run(small(), tmp_path, jobs=1, verbose=False).n_run == 12


def test_other_settings_are_refused(tmp_path):
    run(small(trials=1, datasets=("xor",)), tmp_path, jobs=1, verbose=False)
    for change, said in (
        ({"seed": 1}, "seed=0 there and 1 now"),
        ({"n_samples": 50}, "n_samples=60 there and 50"),
    ):
        with pytest.raises(ChangedConfigError, match=f"made with other settings .*{said}.*another directory"):
            run(small(**change), tmp_path, jobs=1, verbose=False)


def test_two_runs_into_one_directory_are_refused(tmp_path):
    store = Store(tmp_path, "small")
    (tmp_path / ".small.lock").write_text("999999")  # left by a process that is no more: taken over
    with store.lock(), pytest.raises(InUseError, match=f"Process {os.getpid()} is writing .*--out"):
        run(small(), tmp_path, jobs=1, verbose=False)
    with store.lock():
        pass


def example_row(**changes):
    row = dict.fromkeys(SCHEMA.names)
    row |= {"dataset": "wine", "trial": 0, "method": "pc", "protocol": "paper", "k": 4, "status": "done"}
    return {**row, "selected": [1, 2, 3, 4], "value": 0.5, **changes}


def test_compaction_is_safe_at_every_moment(tmp_path):
    store = Store(tmp_path, "small")
    store.write_part([example_row(status="failed", value=None, reason="ValueError: no")])
    store.write_part([example_row(trial=1), example_row(trial=1, protocol="held_out")])
    kept = {path: path.read_bytes() for path in store.parts.iterdir()}
    expected = store.rows()
    assert store.compact() == expected and len(expected) == 3
    # Killed after the one file was written and before the parts were deleted, with a part half written.
    store.parts.mkdir()
    for path, content in kept.items():
        path.write_bytes(content)
    (store.parts / "wine.2.pc.parquet.123.tmp").write_bytes(b"half")
    (tmp_path / "small.parquet.123.tmp").write_bytes(b"half")
    assert store.compact() == expected == store.rows()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["small.log", "small.parquet"]
    # What failed before and is done now takes the place of the failure.
    store.write_part([example_row()])
    assert [row["status"] for row in store.compact()] == ["done"] * 3


def test_plan_retries_failures_and_begins_with_the_longest():
    config = small(datasets=("wine", "isolet"), methods=("pc", "lasso"), protocols=("paper",), trials=2)
    skipped = example_row(
        method="lasso", status="skipped", value=None, selected=None, reason="as in the paper"
    )
    stale = {**skipped, "method": "pc", "reason": "needs something that is here by now"}
    held_out = {**skipped, "method": "pc", "protocol": "held_out", "reason": "for its cost"}
    rows = [example_row(), skipped, {**stale, "trial": 1}, {**skipped, "trial": 1, "status": "failed"}]
    units = plan(config, rows)
    assert [(unit.dataset, unit.trial, unit.methods) for unit in units] == [
        ("isolet", 0, ("pc", "lasso")),
        ("isolet", 1, ("pc", "lasso")),
        ("wine", 1, ("pc", "lasso")),
    ]
    dear = small(datasets=("wine",), methods=("pc",), protocols=("paper", "held_out"), trials=1)
    assert plan(replace(dear, paper_only=("pc",)), [*rows, held_out]) == []
    assert [unit.methods for unit in plan(dear, [*rows, held_out])] == [("pc",)]
    (unit,) = plan(small(datasets=("wine",), methods=("pc", "mrmr"), protocols=("paper",), trials=1), rows)
    # What a finished method's set is worth is known to the others of its trial.
    assert unit.methods == ("mrmr",) and unit.known["paper", (1, 2, 3, 4)]["value"] == 0.5


# -- runs that are killed -----------------------------------------------------------------------------

DAWDLE = '''
import time
import numpy as np
from experiments.method import Method

def select(X, y, k, task, seed):
    """Any columns, slowly."""
    time.sleep(0.15)
    return np.random.default_rng(seed).permutation(X.shape[1])[:k]

METHOD = Method(name="dawdle", label="Dawdle", kind="filter", select=select)
'''
KILLER = '''
import os, signal
from experiments.method import Method

def select(X, y, k, task, seed):
    """Takes its process with it."""
    os.kill(os.getpid(), signal.SIGKILL)

METHOD = Method(name="killer", label="Killer", kind="filter", select=select)
'''
CONFIG = """
protocols = ["toy"]
datasets = ["and_or", "quad", "xor"]
methods = {methods}
trials = {trials}
n_samples = 60
"""


@pytest.fixture
def project(tmp_path):
    """A copy of the experiments, to which methods can be added as files."""
    ignored = shutil.ignore_patterns("results", "__pycache__")
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments", ignore=ignored)
    (tmp_path / "experiments" / "methods" / "dawdle.py").write_text(DAWDLE)
    (tmp_path / "experiments" / "methods" / "killer.py").write_text(KILLER)

    def start(methods, trials, out, **options):
        (tmp_path / "own.toml").write_text(CONFIG.format(methods=methods, trials=trials))
        command = [sys.executable, "-m", "experiments", "run", "own.toml", "--out", str(out), "--jobs", "2"]
        source = str(Path(datasets.__file__).parent.parent.parent)
        environment = {**os.environ, "PYTHONPATH": source}
        return subprocess.Popen(
            command, cwd=tmp_path, env=environment, start_new_session=True, text=True, **options
        )

    return start


def finished_cells(out):
    log = out / "own.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [tuple(line.split()[3:6]) for line in lines if line.split()[2:3] == ["finished"]]


def wait_until(process, condition, seconds):
    deadline = time.monotonic() + seconds
    while process.poll() is None and not condition() and time.monotonic() < deadline:
        time.sleep(0.002)


def test_ten_kills_change_nothing(project, tmp_path):
    methods, trials, out = ["pc", "mrmr", "dawdle"], 4, tmp_path / "killed"
    seed = int(np.random.default_rng().integers(2**31))
    print(f"seed of the moments: {seed}")
    rng = np.random.default_rng(seed)
    n_cells = 3 * len(methods) * trials
    # Six times in the midst of its work, four times while it starts or takes stock of what is there.
    amidst = sorted(int(n) for n in rng.choice(range(1, n_cells - 8), 6, replace=False))
    ends = []
    for target in [amidst[0], None, amidst[1], None, amidst[2], None, amidst[3], None, *amidst[4:]]:
        process = project(methods, trials, out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if target is not None:
            wait_until(process, lambda target=target: len(finished_cells(out)) >= target, 30)
        time.sleep(rng.uniform(0, 1.2 if target is None else 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        ends.append(process.wait())
    assert ends.count(-signal.SIGKILL) >= 8  # a fast machine may have come to the end before
    assert finished_cells(out)
    process = project(methods, trials, out, stdout=subprocess.PIPE)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "36 done" in said

    rows = Store(out, "own").rows()
    assert len(rows) == len({cell_of(row) for row in rows}) == n_cells
    logged = finished_cells(out)
    assert len(logged) == len(set(logged))  # none was run twice
    process = project(methods, trials, tmp_path / "whole", stdout=subprocess.DEVNULL)
    assert process.wait(timeout=60) == 0
    assert without_seconds(rows) == without_seconds(Store(tmp_path / "whole", "own").rows())
    left = {path.name for path in out.iterdir()}
    assert left == {"own.parquet", "own.json", "own.log", ".own.lock"}


def test_a_method_that_kills_its_process_fails_alone(project, tmp_path):
    process = project(["pc", "killer", "mrmr"], 1, tmp_path / "out", stdout=subprocess.PIPE)
    said, _ = process.communicate(timeout=60)
    rows = Store(tmp_path / "out", "own").rows()
    found = {(row["dataset"], row["method"]): (row["status"], row["value"] is None) for row in rows}
    for toy in TOYS:
        assert found[toy, "killer"] == ("failed", True)
        assert found[toy, "pc"] == found[toy, "mrmr"] == ("done", False)
    assert process.returncode == 0 and "WorkerKilled: the process that ran it died" in said
    assert sorted(finished_cells(tmp_path / "out")) == sorted(set(finished_cells(tmp_path / "out")))


def test_an_interrupt_finishes_what_is_in_hand(project, tmp_path):
    out = tmp_path / "out"
    process = project(["dawdle"], 200, out, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(process, lambda: finished_cells(out), 30)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process gets it
    said, shown = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "Finishing what is in hand" in shown
    rows = Store(out, "own").rows()
    assert f"{600 - len(rows)} selections are left: the same command goes on from here." in said
    assert {row["status"] for row in rows} == {"done"} and len(rows) == len(finished_cells(out))


def test_command_line_says_what_is_wrong(capsys, tmp_path):
    assert main(["run", "nothing", "--out", str(tmp_path)]) == 2
    assert "no configuration 'nothing'" in capsys.readouterr().err
    assert main(["run", "toys", "--jobs", "0", "--out", str(tmp_path)]) == 2
    assert "jobs must be at least 1, and was 0" in capsys.readouterr().err
    assert main(["list"]) == 0
    assert "l1-LSMI" in capsys.readouterr().out
