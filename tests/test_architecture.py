"""The arrows between the rooms of the house point one way."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import l1lsmi

ROOT = Path(l1lsmi.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# Each room and the rooms of this package that it may know.
GROUND = {"_sparse", "_clock", "_blas", "_arrays", "_rows"}
ALLOWED = {
    "_sparse": set(),
    "_clock": set(),
    "_blas": set(),
    "_arrays": {"_sparse"},
    "_rows": {"_sparse", "_clock", "_blas", "_arrays"},
    "_progress": set(),
    "_atomic_file": set(),
    "_checkpoint": {"_atomic_file"},
    "_processes": set(),
    "_arrow": set(),
    "_messages": set(),
    "_versions": set(),
    "_task": set(),
    "_columns": {"_messages"},
    "_numerics": GROUND,
    "_validation": GROUND | {"_numerics", "_messages"},
    "measures": GROUND | {"_numerics", "_validation"},
    "strategies": GROUND | {"_numerics", "_validation", "_progress", "_checkpoint"},
    "sources": GROUND | {"_numerics", "_validation", "_arrow"},
    "_warnings": GROUND | {"_numerics", "_messages"},
    "_base": GROUND | {"_numerics", "_validation", "_warnings", "sources"},
    "baselines": GROUND | {"_numerics", "_validation", "_base"},
    "datasets": GROUND,
    "evaluation": GROUND | {"_numerics", "_validation", "_warnings"},
    "inference": GROUND
    | {"_numerics", "_validation", "_warnings", "_base", "_progress", "measures", "strategies"},
    "preparation": {"_columns", "_messages", "_arrow"},
    "files": {"_arrow", "_processes", "_atomic_file", "_messages", "_task", "_columns", "preparation"},
    "selectors": GROUND | {"_numerics", "_validation", "_base", "_checkpoint", "measures", "strategies"},
    "methods": {"selectors", "_base", "baselines", "measures", "strategies"},
    "explain": GROUND
    | {"_numerics", "_validation", "_warnings", "_base", "measures", "strategies", "selectors"},
    "plots": {"_arrays", "explain"},
    "report": GROUND
    | {"_numerics", "_validation", "_warnings", "baselines", "explain", "evaluation"}
    | {"_atomic_file", "_versions"},
    "_cli": {
        "_clock",
        "_columns",
        "_messages",
        "evaluation",
        "explain",
        "files",
        "measures",
        "methods",
        "_processes",
        "_progress",
        "report",
        "strategies",
        "_atomic_file",
        "_checkpoint",
        "_warnings",
        "_versions",
    },
    "__main__": {"_cli"},
    "__init__": {"selectors"},
}
# Rooms in which the numerics are kept free of scikit-learn.
WITHOUT_SKLEARN = {"_sparse", "_clock", "_blas", "_arrays", "_rows", "_numerics", "_progress", "_columns"}


def imports(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrows_point_one_way(path):
    known = {name.split(".")[1] for name in imports(path) if name.startswith("l1lsmi.")}
    known -= set(l1lsmi.__all__)
    assert known - {room(path)} <= ALLOWED[room(path)]
    if room(path) in WITHOUT_SKLEARN:
        assert not any(name.split(".")[0] == "sklearn" for name in imports(path))


def test_every_room_is_known():
    assert {room(path) for path in FILES} <= set(ALLOWED)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_package_knows_nothing_of_the_experiments(path):
    assert not any(name.split(".")[0] in ("experiments", "benchmarks") for name in imports(path))


def modules_after(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in run.stdout.split()}


def test_importing_loads_nothing_but_scikit_learn():
    needed = modules_after("import sklearn.feature_selection, sklearn.model_selection")
    assert modules_after("import l1lsmi") - needed <= {"l1lsmi", "array_api_compat"}


def test_pictures_load_matplotlib_only_when_drawn():
    assert "matplotlib" not in modules_after("import l1lsmi.plots, l1lsmi.methods, l1lsmi.explain")


def test_public_names_are_documented_with_examples():
    from l1lsmi import (
        datasets,
        evaluation,
        explain,
        files,
        inference,
        measures,
        methods,
        plots,
        preparation,
        report,
        strategies,
    )

    rooms = (measures, strategies, datasets, evaluation, inference, methods, explain, files, plots, report)
    for module in (l1lsmi, preparation, *rooms):
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, type) or callable(thing):
                assert thing.__doc__, name
    for thing in (
        l1lsmi.L1LSMI,
        measures.SquaredMutualInformation,
        strategies.L1Path,
        strategies.L1Paper,
        datasets.make_xor,
        evaluation.svm_error,
        evaluation.compare_methods,
        evaluation.compare_selectors,
        methods.Method,
        methods.find_method,
        inference.StabilitySelector,
        inference.KnockoffSelector,
        inference.permutation_test,
        inference.false_selections_bound,
        *(getattr(explain, name) for name in explain.__all__ if name.islower()),
        *(getattr(plots, name) for name in plots.__all__),
        *(getattr(report, name) for name in report.__all__),
        *(getattr(files, name) for name in files.__all__),
        preparation.TablePreparation,
    ):
        assert ">>>" in thing.__doc__


def test_limits_on_threads_do_not_outlive_their_users():
    import threading

    import numpy as np
    from threadpoolctl import threadpool_info

    from l1lsmi.measures import SquaredMutualInformation

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    X, y = np.random.default_rng(0).normal(size=(100, 3)), np.arange(100) % 2
    users = [
        threading.Thread(target=SquaredMutualInformation(n_basis=20, random_state=0).score, args=(X, y))
        for _ in range(4)
    ]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert threads() == before


def test_the_walk_from_fit_to_a_matrix_product_is_short(monkeypatch):
    import traceback

    import numpy as np

    from l1lsmi._rows import blocks

    walks = []
    product = blocks.product_into

    def noted(*arguments):
        frames = [frame for frame in traceback.extract_stack() if str(ROOT) in frame.filename]
        walks.append([(Path(frame.filename).name, frame.name) for frame in frames])
        return product(*arguments)

    monkeypatch.setattr(blocks, "product_into", noted)
    X = np.random.default_rng(0).normal(size=(120, 8))
    l1lsmi.L1LSMI(2, n_restarts=1, random_state=0).fit(X, X[:, 2] * X[:, 5])
    steps = [walk for walk in walks if ("l1_path.py", "_steps") in walk and ("draw.py", "evaluate") in walk]
    steps = [walk for walk in steps if ("_split_search.py", "__call__") not in walk]
    assert steps
    for walk in steps:
        assert len(walk) <= 17
        files = [file for i, (file, _) in enumerate(walk) if i == 0 or file != walk[i - 1][0]]
        # Forward only: `fit` hands over to the base class, which comes back with checked data, and both base
        # classes of selectors and of strategies are in a file named _base.py.
        assert len(set(files)) == len(files) - 2, files


@pytest.mark.parametrize("strategy", ["Ranking", "Forward", "Backward", "Exhaustive", "L1Path", "L1Paper"])
def test_a_search_goes_on_from_a_saved_state(strategy):
    import pickle

    import numpy as np

    from l1lsmi import strategies
    from l1lsmi._clock import Budget
    from l1lsmi._rows.table import Table
    from l1lsmi._validation.target import check_target
    from l1lsmi.measures import SquaredMutualInformation

    X = np.random.default_rng(0).normal(size=(80, 7))
    target = check_target(X[:, 1] + 0.5 * X[:, 4] ** 2 + X[:, 5] * X[:, 6], "regression")
    settings = {"L1Paper": {"n_restarts": 3, "max_iter": 5}, "L1Path": {"n_restarts": 4, "agreement": 4}}
    search = getattr(strategies, strategy)(**settings.get(strategy, {}))

    def bound():
        return SquaredMutualInformation(n_basis=20).bind(Table.of(X), target, 0)

    expected = search.search(bound(), 3)
    problem, state = bound(), search._start(bound(), 3)
    steps = search._steps(search._prepare(problem), 3, state, Budget(None))
    for _ in range(2):
        next(steps)
    saved = pickle.loads(pickle.dumps(state))
    steps.close()
    data = search._prepare(bound())
    for _ in search._steps(data, 3, saved, Budget(None)):
        pass
    found = search._result(data, 3, saved, Budget(None))
    assert np.array_equal(found.support, expected.support)
    assert found.score == expected.score and len(found.path) == len(expected.path)
