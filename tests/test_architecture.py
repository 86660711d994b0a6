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
GROUND = {"_arrays", "_rows"}
ALLOWED = {
    "_arrays": set(),
    "_rows": {"_arrays"},
    "_progress": set(),
    "_atomic_file": set(),
    "_processes": set(),
    "_arrow": set(),
    "_messages": set(),
    "_task": set(),
    "_numerics": GROUND,
    "_validation": GROUND | {"_numerics"},
    "measures": GROUND | {"_numerics", "_validation"},
    "strategies": GROUND | {"_numerics", "_validation", "_progress"},
    "sources": GROUND | {"_numerics", "_validation", "_arrow"},
    "_base": GROUND | {"_numerics", "_validation", "sources"},
    "baselines": GROUND | {"_numerics", "_validation", "_base"},
    "datasets": GROUND,
    "evaluation": GROUND | {"_numerics", "_validation"},
    "files": {"_arrow", "_processes", "_atomic_file", "_messages", "_task"},
    "selectors": GROUND | {"_numerics", "_validation", "_base", "measures", "strategies"},
    "methods": {"selectors", "_base", "baselines", "measures", "strategies"},
    "explain": GROUND | {"_numerics", "_validation", "_base", "measures", "strategies", "selectors"},
    "plots": {"_arrays", "explain"},
    "report": GROUND | {"_numerics", "_validation", "explain", "evaluation", "_atomic_file"},
    "_cli": {
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
    },
    "__main__": {"_cli"},
    "__init__": {"selectors"},
}
# Rooms in which the numerics are kept free of scikit-learn.
WITHOUT_SKLEARN = {"_arrays", "_rows", "_numerics", "_progress"}


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
    from l1lsmi import datasets, evaluation, explain, files, measures, methods, plots, report, strategies

    rooms = (measures, strategies, datasets, evaluation, methods, explain, files, plots, report)
    for module in (l1lsmi, *rooms):
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
        *(getattr(explain, name) for name in explain.__all__ if name.islower()),
        *(getattr(plots, name) for name in plots.__all__),
        *(getattr(report, name) for name in report.__all__),
        *(getattr(files, name) for name in files.__all__),
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
