"""Where the default loses: whether the search missed a better set, or its score ranks sets otherwise.

``python -m experiments losses`` judges, on the rows of every trial, the set that `L1LSMI` selected and that
of the method which the support vector machine prefers; and says of datasets where its single feature errs far
more than another's what these features say of the target.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from experiments.config import read_config
from experiments.markdown import escape, table
from experiments.reading import read
from experiments.real_tables import PROTOCOL_LABELS, label, protocols_of
from experiments.registry import all_problems
from experiments.summary import NINE, OURS, Errors
from experiments.unit import Unit, sittings_of
from l1lsmi._rows.table import Table
from l1lsmi._validation.target import check_target
from l1lsmi.measures import SquaredMutualInformation

#: One feature errs far more than another where its error is so many times as large.
FAR_MORE = 1.5


class Trials(NamedTuple):
    """In how many trials the winner's set has the lower score, of those where the sets differ."""

    n_missed: int
    n_differ: int


def main(results_dir: Path) -> None:
    """Print a table of the datasets where another of the nine methods is significantly better."""
    lines = []
    for errors in protocols_of(read(results_dir, "real")):
        for loss in errors.losses(NINE):
            if loss.own.done and not loss.partial:
                found = judged(errors, loss.dataset, loss.winner)
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
    """Where one feature of `L1LSMI` errs far more than another's: what each of them says of the target."""
    singles = [row for row in read(results_dir, "figure") if row["k"] == 1 and row["selected"]]
    errors = Errors.of(singles, "paper")
    lines = []
    for dataset in dict.fromkeys(row["dataset"] for row in singles):
        means = {
            method: cell.mean for (of, method), cell in errors.cells.items() if of == dataset and cell.done
        }
        if means.get(OURS, 0.0) > FAR_MORE * min(means.values()):
            lines.extend(_chosen_columns(dataset, [row for row in singles if row["dataset"] == dataset]))
    header = ["dataset", "column", "chosen by", "correlation", "rank correlation", "rows far from the mean"]
    return table(header, lines, text_columns=3) if lines else "No single feature errs far more."


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


def judged(errors: Errors, dataset: str, winner: str) -> Trials:
    """Compare the two sets of every trial by the score that the search goes by."""
    n_missed = n_differ = 0
    config = read_config("real")
    pairs = zip(errors.cells[dataset, OURS].rows, errors.cells[dataset, winner].rows, strict=True)
    for ours, theirs in pairs:
        if sorted(ours["selected"]) == sorted(theirs["selected"]):
            continue
        sittings = sittings_of(Unit(config, dataset, ours["trial"], (OURS,), {}))
        train = next(s.train for s in sittings if s.protocol == errors.protocol)
        task = all_problems()[dataset].task
        scores = [_score(train, row["selected"], task, ours["seed"]) for row in (ours, theirs)]
        n_missed += scores[1] < scores[0]
        n_differ += 1
    return Trials(n_missed, n_differ)


def _score(train: Any, selected: list[int], task: str, seed: int) -> float:
    problem = SquaredMutualInformation(task=task).bind(
        Table.of(np.asarray(train.X)), check_target(train.y, task), seed
    )
    return float(problem.juror(0).judge(np.array(sorted(selected))).cv_score)
