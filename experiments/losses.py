"""Where the default loses: whether the search missed a better set, or its score ranks the sets differently.

``python -m experiments losses`` scores, on the rows of every trial, the set that `L1LSMI` selected and that
of the method with the smallest error; and shows, for datasets where the error of its single feature is much
larger than that of another, the correlation of these features with the target.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from experiments.config import read_config
from experiments.markdown import escape, table
from experiments.protocols import protocols_of
from experiments.reading import read
from experiments.real_tables import PROTOCOL_LABELS, errors_by_protocol, label
from experiments.registry import all_problems
from experiments.summary import NINE, OURS, Errors
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import SquaredMutualInformation

#: Ratio of the errors of two single features above which they are shown.
MUCH_LARGER = 1.5


class Trials(NamedTuple):
    """Number of trials where the winner's set has the lower score, and where the sets differ."""

    n_missed: int
    n_differ: int


def main(results_dir: Path) -> None:
    """Print a table of the datasets where another of the nine methods is significantly better."""
    lines = []
    for errors in errors_by_protocol(read(results_dir, "real")):
        for loss in errors.losses(NINE):
            if loss.own.done and not loss.partial:
                found = compare_sets(errors, loss.dataset, loss.winner)
                lines.append(
                    [
                        escape(loss.dataset),
                        PROTOCOL_LABELS[errors.protocol],
                        label(loss.winner),
                        f"{found.n_missed} of {found.n_differ}",
                    ]
                )
    header = ["dataset", "protocol", "best", "trials in which its set has the better score"]
    print(table(header, lines, text_columns=3) if lines else "Nowhere among the nine.")
    print()
    print(single_features(results_dir))


def single_features(results_dir: Path) -> str:
    """Single features of `L1LSMI` with a much larger error than others: correlations with the target."""
    singles = [row for row in read(results_dir, "figure") if row["k"] == 1 and row["selected"]]
    errors = Errors.of(singles, "paper")
    lines = []
    for dataset in dict.fromkeys(row["dataset"] for row in singles):
        means = {
            method: cell.mean for (of, method), cell in errors.cells.items() if of == dataset and cell.done
        }
        if means.get(OURS, 0.0) > MUCH_LARGER * min(means.values()):
            lines.extend(_chosen_columns(dataset, [row for row in singles if row["dataset"] == dataset]))
    header = ["dataset", "column", "chosen by", "correlation", "rank correlation", "rows far from the mean"]
    return table(header, lines, text_columns=3) if lines else "No single feature has a much larger error."


def _chosen_columns(dataset: str, rows: list[dict[str, Any]]) -> list[list[str]]:
    data = all_problems()[dataset].all_rows()
    far = np.mean(np.abs(data.y - np.mean(data.y)) > 3 * np.std(data.y))
    lines = []
    for column in sorted({int(row["selected"][0]) for row in rows}):
        who = Counter(label(row["method"]) for row in rows if int(row["selected"][0]) == column)
        chosen_by = ", ".join(f"{name} {count}" for name, count in who.most_common())
        x = data.X[:, column]
        linear, ranks = abs(np.corrcoef(x, data.y)[0, 1]), abs(spearmanr(x, data.y)[0])
        lines.append([escape(dataset), str(column), chosen_by, f"{linear:.2f}", f"{ranks:.2f}", f"{far:.1%}"])
    return lines


def compare_sets(errors: Errors, dataset: str, winner: str) -> Trials:
    """Compare the two sets of every trial by the score that the search optimises."""
    n_missed = n_differ = 0
    config = read_config("real")
    pairs = zip(errors.cells[dataset, OURS].rows, errors.cells[dataset, winner].rows, strict=True)
    for ours, theirs in pairs:
        if sorted(ours["selected"]) == sorted(theirs["selected"]):
            continue
        protocols = protocols_of(config, dataset, ours["trial"])
        train = next(protocol.train for protocol in protocols if protocol.name == errors.protocol)
        task = all_problems()[dataset].task
        scores = [_score(train, row["selected"], task, ours["seed"]) for row in (ours, theirs)]
        n_missed += scores[1] < scores[0]
        n_differ += 1
    return Trials(n_missed, n_differ)


def _score(train: Any, selected: list[int], task: str, seed: int) -> float:
    problem = SquaredMutualInformation(task=task).bind(
        Table.of(np.asarray(train.X)), check_target(train.y, task), seed
    )
    return float(problem.set_scorer(0).score_sets([tuple(sorted(selected))])[0].loss)
