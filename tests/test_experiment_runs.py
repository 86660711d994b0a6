"""Runs of experiments: they add, refuse, and lose nothing, however they end."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from experiments.record import ChangedConfigError
from experiments.run import plan, run
from experiments.store import SCHEMA, InUseError, Store, cell_of
from l1lsmi import datasets
from tests.small_experiment import TOYS, small

ROOT = Path(__file__).parent.parent
SECONDS = {"select_seconds", "evaluate_seconds"}


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name not in SECONDS} for row in rows]


# -- results ------------------------------------------------------------------------------------------


def test_rows_do_not_depend_on_order_or_processes_and_more_only_adds(tmp_path):
    first = run(small(), tmp_path / "a", jobs=1, verbose=False)
    assert (first.n_run, first.n_left, len(first.rows)) == (12, 0, 12)
    files = [tmp_path / "a" / f"small.{ending}" for ending in ("parquet", "json")]
    before = [file.read_bytes() for file in files]
    again = run(small(), tmp_path / "a", jobs=2, verbose=False)
    assert (again.n_run, again.rows) == (0, first.rows)
    assert [file.read_bytes() for file in files] == before
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
    X = rng.normal(size=(178, 13))  # the size of wine: others are refused
    y = np.repeat([1, 2, 3], [59, 71, 48])
    X[:, 0] = np.sort(X[:, 0])
    np.savez(tmp_path / "wine.npz", X=X, y=y, feature_names=np.array([f"f{j}" for j in range(13)]))
    config = small(datasets=("wine",), methods=("pc",), protocols=("paper",), trials=1)
    (row,) = run(config, tmp_path / "out", jobs=1, data=str(tmp_path), verbose=False).rows
    assert (row["status"], row["reason"], row["n_train"]) == ("done", None, 60)
    assert 0 in row["selected"]


def test_the_record_says_how_results_came_about(tmp_path):
    run(small(trials=1), tmp_path, jobs=1, command="first", verbose=False)
    outcome = run(small(trials=2), tmp_path, jobs=2, command="second", verbose=False)
    record = json.loads((tmp_path / "small.json").read_text())
    assert [session["command"] for session in record["sessions"]] == ["first", "second"]
    assert (record["command"], record["jobs"], record["trials"]) == ("second", 2, 2)
    assert record["rows"] == {"all": 12, "done": 12, "failed": 0, "skipped": 0}
    assert set(record["versions"]) >= {"python", "l1lsmi", "numpy", "scipy", "scikit-learn"}
    assert record["machine"]["cores"] >= 1 and record["finished"] >= record["started"]
    spent = [row["select_seconds"] + (row["evaluate_seconds"] or 0) for row in outcome.rows]
    assert record["work_seconds"] == pytest.approx(sum(spent), abs=0.06)
    walls = [session["seconds"] for session in record["sessions"]]
    assert record["wall_seconds"] == pytest.approx(sum(walls), abs=0.06) and min(walls) > 0
    assert str(tmp_path) not in json.dumps(record)


def test_subsets_of_and_or(tmp_path):
    config = small(protocols=("subset",), datasets=("and_or",), methods=("smi",), trials=1, n_samples=200)
    rows = run(config, tmp_path, jobs=1, verbose=False).rows
    assert len(rows) == len({tuple(row["selected"]) for row in rows}) == 35
    best = max(rows, key=lambda row: row["value"])
    # The four true features determine the class: (C - 1) / 2 = 1/2 for two classes.
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
    for change, message in (
        ({"seed": 1}, "seed=0 there and 1 now"),
        ({"n_samples": 50}, "n_samples=60 there and 50"),
    ):
        with pytest.raises(
            ChangedConfigError, match=f"made with other settings .*{message}.*another directory"
        ):
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
    expensive = small(datasets=("wine",), methods=("pc",), protocols=("paper", "held_out"), trials=1)
    assert plan(replace(expensive, paper_only=("pc",)), [*rows, held_out]) == []
    assert [unit.methods for unit in plan(expensive, [*rows, held_out])] == [("pc",)]
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
    return Store(out, "own").finished()


def wait_until(process, condition, seconds):
    deadline = time.monotonic() + seconds
    while process.poll() is None and not condition() and time.monotonic() < deadline:
        time.sleep(0.002)


def test_six_kills_change_nothing(project, tmp_path):
    methods, trials, out = ["pc", "mrmr", "dawdle"], 4, tmp_path / "killed"
    seed = int(np.random.default_rng().integers(2**31))
    print(f"seed of the moments: {seed}")
    rng = np.random.default_rng(seed)
    n_cells = 3 * len(methods) * trials
    # Four times in the midst of its work, twice while it starts or takes stock of what is there.
    amidst = sorted(int(n) for n in rng.choice(range(1, n_cells - 8), 4, replace=False))
    ends = []
    for target in [amidst[0], None, amidst[1], None, *amidst[2:]]:
        process = project(methods, trials, out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if target is not None:
            wait_until(process, lambda target=target: len(finished_cells(out)) >= target, 30)
        time.sleep(rng.uniform(0, 1.2 if target is None else 0.1))
        os.killpg(process.pid, signal.SIGKILL)
        ends.append(process.wait())
    assert ends.count(-signal.SIGKILL) >= 5  # a fast machine may have come to the end before
    assert finished_cells(out)
    process = project(methods, trials, out, stdout=subprocess.PIPE)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and "36 done" in output

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
    output, _ = process.communicate(timeout=60)
    rows = Store(tmp_path / "out", "own").rows()
    found = {(row["dataset"], row["method"]): (row["status"], row["value"] is None) for row in rows}
    for toy in TOYS:
        assert found[toy, "killer"] == ("failed", True)
        assert found[toy, "pc"] == found[toy, "mrmr"] == ("done", False)
    assert process.returncode == 0 and "WorkerKilled: the process that ran it was killed" in output
    assert sorted(finished_cells(tmp_path / "out")) == sorted(set(finished_cells(tmp_path / "out")))


def test_an_interrupt_waits_for_the_running_methods(project, tmp_path):
    out = tmp_path / "out"
    process = project(["dawdle"], 200, out, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(process, lambda: finished_cells(out), 30)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: every process gets it
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "Waiting for the running methods" in errors
    rows = Store(out, "own").rows()
    assert f"{600 - len(rows)} selections are left: the same command continues the run." in output
    assert {row["status"] for row in rows} == {"done"} and len(rows) == len(finished_cells(out))
