"""Methods, datasets and configurations of the experiments, the rows of a trial, and one trial."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from experiments import config as config_module
from experiments import protocols as protocols_module
from experiments import real as real_module
from experiments import unit as unit_module
from experiments.__main__ import main
from experiments.config import config_names, read_config
from experiments.method import KINDS, Method
from experiments.problem import k_of_table, ks_of_figure
from experiments.real import Real
from experiments.registry import all_methods, all_problems
from experiments.seeds import stable_seed
from experiments.unit import Unit, UnitRunner
from tests.small_experiment import TOYS, small

ROOT = Path(__file__).parent.parent


# -- files --------------------------------------------------------------------------------------------


def test_every_file_defines_what_it_is_named_after():
    for folder, found in (("methods", all_methods()), ("datasets", all_problems())):
        files = {path.stem for path in (ROOT / "experiments" / folder).glob("[a-z]*.py")}
        assert files == set(found)
        assert len({thing.label for thing in found.values()}) == len(found)


def test_datasets_are_those_of_the_paper():
    real = {name: problem for name, problem in all_problems().items() if isinstance(problem, Real)}
    assert len(real) == 23 and set(all_problems()) - set(real) == set(TOYS)
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
    assert ks_of_figure(9) == (1, 2, 3, 4, 5) and ks_of_figure(166) == (8, 16, 24, 32, 40)
    assert ks_of_figure(5) == (1, 2, 3, 4)


def test_configurations_are_the_paper_s():
    assert config_names() == ["figure", "real", "rivals", "subsets", "toys"]
    toys, real, rivals, figure = (read_config(name) for name in ("toys", "real", "rivals", "figure"))
    assert (len(toys.methods), set(toys.datasets), toys.trials) == (11, set(TOYS), 50)
    assert set(all_problems()) - set(real.datasets) == {"flaresolar", *TOYS} and len(real.datasets) == 22
    assert real.protocols == ("paper", "held_out") and real.trials >= 20
    # Every rival is in one of the two, on the same rows and folds.
    assert {name for name, method in all_methods().items() if method.in_paper is None} <= {
        *real.methods,
        *rivals.methods,
    }
    assert (rivals.protocols, rivals.seed, rivals.n_samples) == (real.protocols, real.seed, real.n_samples)
    narrow = [name for name in real.datasets if all_problems()[name].n_features < 50]
    assert list(rivals.datasets) == narrow and rivals.trials <= real.trials
    assert (len(figure.methods), len(figure.datasets), figure.trials) == (7, 14, 20)


def test_unknown_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match="no configuration 'nothing': choose from figure"):
        read_config("nothing")
    with pytest.raises(ValueError, match="no method 'nothing': choose from b_hsic"):
        read_config("toys").with_choices(methods=["nothing"])
    with pytest.raises(ValueError, match="no dataset 'nothing': choose from abalone"):
        read_config("toys").with_choices(datasets=["nothing"])
    with pytest.raises(ValueError, match="trials must be at least 1, not 0"):
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
        monkeypatch.setattr(Real, "load", lambda real: data)
        real_module._all_rows.cache_clear()
        return data

    yield install
    real_module._all_rows.cache_clear()


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
    real_module._all_rows.cache_clear()
    assert all_problems()["housing"].draw(0).y.mean() == pytest.approx(50, abs=3)


# -- one trial ----------------------------------------------------------------------------------------


def method_of(name, select, **more):
    return Method(name=name, label=name, kind="filter", select=select, **more)


@pytest.fixture
def runner(monkeypatch):
    """Runs methods that are defined in a test."""

    def make_runner(*methods, **changes):
        known = {method.name: method for method in methods}
        for module in (unit_module, config_module):
            monkeypatch.setattr(module, "all_methods", lambda: known)
        config = small(methods=tuple(known), **changes)
        return UnitRunner(Unit(config, config.datasets[0], 0, config.methods, {}))

    return make_runner


def test_a_failure_is_a_row_without_a_value(runner):
    def breaks(X, y, k, task, seed):
        raise ArithmeticError("it cannot be done\nsecond line")

    short = method_of("short", lambda X, y, k, task, seed: list(range(k - 1)))
    twice = method_of("twice", lambda X, y, k, task, seed: [0] * k)
    outside = method_of("outside", lambda X, y, k, task, seed: range(8, 8 + k))
    unit = runner(method_of("breaks", breaks), short, twice, outside)
    expected = {
        "breaks": "ArithmeticError: it cannot be done",
        "short": "ValueError: 4 different columns are required, but the method returned [0, 1, 2]",
        "twice": "ValueError: 4 different columns are required, but the method returned [0, 0, 0, 0]",
        "outside": "ValueError: there are 10 columns, but the method returned [8, 9, 10, 11]",
    }
    for name, reason in expected.items():
        (row,) = unit.rows_of(name)
        assert (row["status"], row["reason"], row.get("value"), row["k"]) == ("failed", reason, None, 4)


def test_methods_that_cannot_be_run_are_skipped_with_a_reason(runner):
    needy = method_of("needy", lambda *rest: 1 / 0, needs=("no_such_package",))
    (row,) = runner(needy).rows_of("needy")
    reason = "needs no_such_package: pip install no_such_package"
    assert (row["status"], row["reason"], row.get("value")) == ("skipped", reason, None)
    rows = runner(
        method_of("expensive", lambda X, y, k, task, seed: range(k)),
        **{"datasets": ("xor",), "protocols": ("toy", "toy"), "paper_only": ("expensive",)},
    ).rows_of("expensive")
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
    loaded = []

    def load(real):
        loaded.append(real.name)
        raise OSError(f"{real.name} is not in {Path.home()}")

    monkeypatch.setattr(Real, "load", load)
    real_module._all_rows.cache_clear()
    config = small(datasets=("wine",), protocols=("paper", "held_out"))
    unit = UnitRunner(Unit(config, "wine", 0, config.methods, {}))
    for name in config.methods:
        rows = unit.rows_of(name)
        assert [(row["protocol"], row["status"], row["reason"]) for row in rows] == [
            ("paper", "failed", "OSError: wine is not in ~"),
            ("held_out", "failed", "OSError: wine is not in ~"),
        ]
    assert loaded == ["wine"]


@pytest.fixture
def counted(monkeypatch):
    """Constant errors, and the calls that compute them."""
    calls = []

    def error_of(kind):
        def error(X, *rest, **options):
            calls.append((kind, options["random_state"]))
            return SimpleNamespace(error=0.25, C=1.0, sigma_factor=2.0)

        return error

    monkeypatch.setattr(protocols_module, "svm_error", error_of("paper"))
    monkeypatch.setattr(protocols_module, "held_out_error", error_of("held_out"))
    return calls


def test_shared_selections_and_evaluations_are_computed_once(runner, made_up, counted):
    made_up(1200)
    fits = []

    def select(X, y, k, task, seed):
        fits.append(k)
        return list(range(k))

    both = {"datasets": ("german",), "protocols": ("paper", "held_out"), "n_samples": 400}
    backwards = method_of("backwards", lambda X, y, k, task, seed: range(k - 1, -1, -1))
    unit = runner(method_of("counts", select), backwards, **both)
    paper, held_out = unit.rows_of("counts")
    assert fits == [4]  # both protocols select on the same rows
    assert paper["select_seconds"] is not None and held_out["select_seconds"] is None
    assert [kind for kind, _ in counted] == ["paper", "held_out"]
    assert (paper["n_train"], paper["n_test"], held_out["n_test"]) == (400, 0, 800)
    rows = unit.rows_of("backwards")  # the same set in another order
    assert len(counted) == 2 and [row["value"] for row in rows] == [0.25, 0.25]
    assert all(row.get("evaluate_seconds") is None for row in rows)
    assert len({seed for _, seed in counted}) == 1  # the folds do not depend on the method

    made_up(1200, n_groups=20)
    fits.clear()
    runner(method_of("counts", select), **both).rows_of("counts")
    assert fits == [4, 4]  # with groups the protocols have rows of their own


def test_nested_methods_are_fitted_once_for_all_k(runner, made_up, counted):
    made_up(100, n_columns=30)
    fits = []

    def select(X, y, k, task, seed):
        fits.append(k)
        return list(range(k))

    several = {"datasets": ("german",), "protocols": ("paper",), "several_k": True}
    rows = runner(method_of("nested", select, nested=True), **several).rows_of("nested")
    assert fits == [5]
    assert [(row["k"], row["selected"]) for row in rows] == [(k, list(range(k))) for k in range(1, 6)]
    runner(method_of("each", select), **several).rows_of("each")
    assert fits == [5, 1, 2, 3, 4, 5]


def test_real_data_under_both_protocols(runner, made_up):
    made_up(80)
    product = method_of("product", lambda X, y, k, task, seed: range(k))
    paper, held_out = runner(product, datasets=("german",), protocols=("paper", "held_out")).rows_of(
        "product"
    )
    assert [paper["status"], held_out["status"]] == ["done", "done"]
    # y is the sign of x0 x1: an SVM on columns 0 to 3 of 60 or 56 rows sees it, guessing errs in half.
    assert 0 <= paper["value"] < 0.4 and 0 <= held_out["value"] < 0.5
    assert (held_out["n_train"], held_out["n_test"]) == (56, 24)
    assert 0 < paper["redundancy"] < 0.5 and paper["metric"] == "error_rate"


# -- command line -------------------------------------------------------------------------------------


def test_messages_of_the_command_line(capsys, tmp_path):
    assert main(["run", "nothing", "--out", str(tmp_path)]) == 2
    assert "no configuration 'nothing'" in capsys.readouterr().err
    assert main(["run", "toys", "--jobs", "0", "--out", str(tmp_path)]) == 2
    assert "jobs must be at least 1, not 0" in capsys.readouterr().err
    assert main(["list"]) == 0
    assert "l1-LSMI" in capsys.readouterr().out
