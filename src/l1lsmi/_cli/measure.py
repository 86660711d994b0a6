"""``l1lsmi measure``: the dependence between the target and every single column."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

from l1lsmi._cli.checks import check_names, check_outputs, check_time_limit, command_budget
from l1lsmi._cli.commands import MEASURES
from l1lsmi._cli.data import Data, load_data
from l1lsmi._cli.fitting import features_for
from l1lsmi._cli.interrupt import INTERRUPTED
from l1lsmi._cli.output import is_interactive, print_json
from l1lsmi._cli.text import same_decimals, text_table
from l1lsmi._clock import Budget, OutOfTimeError, check_time, limited
from l1lsmi._progress import Progress
from l1lsmi._versions import versions
from l1lsmi.explain import sample_rows
from l1lsmi.measures import HSIC, Measure, MutualInformation, Pearson, SquaredMutualInformation

#: Seconds between two checks of the time limit, unless a single column takes longer.
CHECK_EVERY = 0.1
WAS_INTERRUPTED = "Interrupted."
OUT_OF_TIME = "The time limit was reached."


def run(file: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Run ``l1lsmi measure``."""
    quiet = quiet or as_json
    names = check_names("measures", options["measures"], MEASURES)
    sort = options["sort"] or names[0]
    if sort not in names:
        raise click.UsageError(
            f"--sort {sort} is not one of --measures {','.join(names)}: pass one of these, or "
            "add it to --measures."
        )
    check_outputs(file, {})
    check_time_limit(options["time_limit"])
    budget = command_budget(options["time_limit"])
    data = load_data(file, quiet, options, in_memory=False)
    started = time.perf_counter()
    rows = sample_rows(data.prepared.y, data.prepared.task, options["max_rows"], options["seed"])
    scores, stop = _score_columns(data, rows, names, options, quiet, budget)
    result = _document(data, rows, names, sort, scores, stop, time.perf_counter() - started, options["top"])
    if as_json:
        print_json(result)
    else:
        click.echo(_summary(result, names))
    return INTERRUPTED if stop == WAS_INTERRUPTED else 0


def _measures(names: tuple[str, ...], task: str, seed: int) -> dict[str, Measure]:
    makers: dict[str, Any] = {
        "smi": lambda: SquaredMutualInformation(task=task, random_state=seed),
        "hsic": lambda: HSIC(task=task),
        "mi": lambda: MutualInformation(task=task, random_state=seed),
        "pearson": lambda: Pearson(task=task),
    }
    return {name: makers[name]() for name in names}


def _score_columns(
    data: Data, rows: np.ndarray, names: tuple[str, ...], options: dict[str, Any], quiet: bool, budget: Budget
) -> tuple[dict[int, dict[str, float]], str]:
    """Scores by feature and measure, and why not all features have them; empty if all do."""
    X, y = features_for(data.features, rows), data.prepared.y[rows]
    measures = _measures(names, data.prepared.task, options["seed"])
    scores: dict[int, dict[str, float]] = {}
    size = 1  # columns in a batch, which is grown as long as it takes less than the time between checks
    with Progress(X.shape[1], int(is_interactive(quiet)), "column", "measuring") as progress:
        try:
            # Of all columns: rows that are equal in all of them count as one, whatever the batches.
            problems = {name: by._problem(X, y) for name, by in measures.items()}
            while len(scores) < X.shape[1]:
                begun = time.monotonic()
                block = np.arange(len(scores), min(len(scores) + size, X.shape[1]))
                found = {j: dict.fromkeys(names, 0.0) for j in block.tolist()}
                for name, problem in problems.items():
                    varying = np.intersect1d(block, problem.columns)
                    # The first column is measured whatever the time limit: there is something to print.
                    with limited(budget if scores else None):
                        check_time()
                        values = problem.score_each(varying) if varying.size else ()
                    for j, score in zip(varying.tolist(), values, strict=True):
                        found[j][name] = float(score)
                scores.update(found)
                progress.advance(steps=block.size)
                size = 2 * size if time.monotonic() - begun < CHECK_EVERY / 2 else max(1, size // 2)
        except OutOfTimeError:
            return scores, OUT_OF_TIME
        except KeyboardInterrupt:
            return scores, WAS_INTERRUPTED
    return scores, ""


def _document(
    data: Data,
    rows: np.ndarray,
    names: tuple[str, ...],
    sort: str,
    scores: dict[int, dict[str, float]],
    stop: str,
    seconds: float,
    top: int | None,
) -> dict[str, Any]:
    # A correlation says as much if it is negative; estimates of other measures are negative by chance.
    size = abs if sort == "pearson" else float
    order = sorted(scores, key=lambda j: (-size(scores[j][sort]), j))
    prepared = data.prepared
    uses = {use.name: use.used_as for use in prepared.columns}
    return {
        "format": "l1lsmi-measures",
        "version": 1,
        "versions": versions(),
        "source": data.table.source,
        "target": prepared.target,
        "targets": data.targets,
        "task": data.task,
        "rows_used": len(rows),
        "sorted_by": sort,
        "measures": list(names),
        "features": [
            {"name": name, "column": name, "used_as": uses[name], "scores": scores[j]}
            for j, name in ((j, prepared.feature_names[j]) for j in order[:top])
        ],
        "features_measured": len(scores),
        "features_considered": data.shape[1],
        "stop_reason": stop or None,
        "notes": data.notes,
        "seconds": round(seconds, 4),
    }


def _summary(result: dict[str, Any], names: tuple[str, ...]) -> str:
    features = result["features"]
    by_measure = [same_decimals([one["scores"][name] for one in features]) for name in names]
    rows = list(zip([one["name"] for one in features], *by_measure, strict=True))
    table = text_table(("feature", *(name.upper() for name in names)), rows)
    measured, considered = result["features_measured"], result["features_considered"]
    more = f"\n  ... and {measured - len(rows):,} more" if len(rows) < measured else ""
    text = f"\n{table}{more}\n\nmeasured on {result['rows_used']:,} rows in {result['seconds']:.1f} s"
    if result["stop_reason"] is None:
        return text
    return f"{text}\n{result['stop_reason']} {measured:,} of {considered:,} features were measured."
