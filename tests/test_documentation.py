"""What the README and the guides show must run."""

import re
from pathlib import Path

import numpy as np
import pytest

from l1lsmi._numerics.model import Model

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
GUIDES = sorted((ROOT / "docs").glob("*.md"))


def run(path: Path) -> dict:
    """All Python of a page, from top to bottom."""
    names: dict = {"__name__": path.stem}
    for code in re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL):
        exec(code, names)
    return names


def test_the_ten_lines_of_the_readme_run():
    names = run(README)
    assert names["selector"].get_support(indices=True).tolist() == [2, 5]
    assert names["X_selected"].shape == (300, 2)


@pytest.mark.parametrize("path", [README, *GUIDES], ids=lambda path: path.name)
def test_pages_name_files_that_exist(path):
    for name in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert name.startswith("http") or (path.parent / name).exists(), name
    for name in re.findall(r"`((?:benchmarks|docs|tests)/[\w/]+\.\w+)`", path.read_text()):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"`((?:measures|strategies|_numerics|baselines)/[\w/]+\.py)`", path.read_text()):
        assert (ROOT / "src" / "l1lsmi" / name).exists(), name


def test_the_guide_to_evaluation():
    names = run(ROOT / "docs" / "evaluation.md")
    assert names["selected"].tolist() == [0, 1] and names["result"].error == 0.0
    assert names["comparison"].best == 0 and names["comparison"].tied.tolist() == [True, False]


def test_the_measure_of_the_guide():
    names = run(ROOT / "docs" / "add_a_measure.md")
    assert names["chosen"].tolist() == [1, 4]
    assert names["pair_score"] > names["single_scores"].max()
    assert re.match("L1Path needs .*draws.* of its measure", names["refusal"])
    assert names["weighted_chosen"].tolist() == [2, 3] and (names["weights"][[2, 3]] > 0).all()
    for strategy in ("Ranking", "Forward", "Exhaustive"):
        selector = names["FeatureSelector"](names["DistanceCovariance"](), _strategy(strategy), 2)
        assert selector.fit(names["X"], names["X"][:, 3] + names["X"][:, 5] ** 3).support_.sum() == 2


def test_the_gradient_of_the_guide():
    from l1lsmi._rows.table import Table
    from l1lsmi._validation.target import check_target

    names = run(ROOT / "docs" / "add_a_measure.md")
    y = names["X"][:, 2] + names["X"][:, 3] ** 2
    draws = names["DistanceCovarianceDraws"](Table.of(names["X"]), check_target(y, "regression"))
    weights, columns = np.linspace(0.3, 0.8, 6), np.arange(6)
    value, gradient = draws.value_and_gradient(weights, columns, Model(1.0))
    assert value == draws.value(weights, columns, 1.0)
    for j, step in enumerate(1e-6 * np.eye(6)):
        values = [draws.value(weights + sign * step, columns, 1.0) for sign in (1, -1)]
        assert gradient[j] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-4, abs=1e-8)


def test_the_strategy_of_the_guide():
    names = run(ROOT / "docs" / "add_a_strategy.md")
    assert names["chosen"].tolist() == [1, 4]
    assert names["path"][-1].score == max(step.score for step in names["path"])
    assert "Exchanges needs score_set of its measure, which Pearson does not have" in names["refusal"]


def _strategy(name):
    from l1lsmi import strategies

    return getattr(strategies, name)()


def test_how_to_choose_runs():
    names = run(ROOT / "docs" / "how_to_choose.md")
    assert names["table"]


def test_the_page_on_datasets():
    names = run(ROOT / "docs" / "datasets.md")
    assert names["wine"].X.shape == (178, 13)
    assert "sonar.npz" in names["refusal"] and "L1LSMI_DATA" in names["refusal"]
    assert "Musk (Version 1), UCI, doi:10.24432/C5ZK5B (CC BY 4.0)" in names["citations"]["musk1"]
    # The table agrees with the descriptions.
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs" / "datasets.md").read_text(), re.MULTILINE)
    assert [name for name, _ in rows] == list(names["real"])
    for name, row in rows:
        real = names["real"][name]
        n, m, task, group, source, note = row.split(" | ")
        assert (int(n), int(m)) == (real.n_rows, real.n_features)
        assert task == (f"{real.n_classes} classes" if real.n_classes else "regression")
        assert group == (real.grouped_by or "-") and note == (real.note or "-")
        number = getattr(real.source, "id", None)
        published = "UCI" if number is None else f"[OpenML {number}](https://www.openml.org/d/{number})"
        assert source == ("not published" if real.source is None else published)
