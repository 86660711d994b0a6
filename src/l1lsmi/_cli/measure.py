"""``l1lsmi measure``: how much every column says about the target by itself."""

from __future__ import annotations

import time
from typing import Any

import click
import numpy as np

from l1lsmi._cli.checks import check_seconds
from l1lsmi._cli.options import Data, data_options, load_data, output_options, preparing_options, tell
from l1lsmi._cli.text import text_table
from l1lsmi._cli.waiting import is_watched
from l1lsmi._progress import Progress
from l1lsmi.explain import sample_rows
from l1lsmi.measures import HSIC, Measure, MutualInformation, Pearson, SquaredMutualInformation

#: Seconds between two looks at the clock, where a column takes no longer.
LOOK_EVERY = 0.1
MEASURES = ("smi", "hsic", "mi", "pearson")


@click.command(short_help="Measure what every column says about a target.")
@data_options
@click.option("--measures", default=",".join(MEASURES), show_default=True, help="Which, separated by commas.")
@click.option("--sort", type=click.Choice(MEASURES), help="Which to sort by; the first by default.")
@click.option("--top", type=click.IntRange(min=1), help="Print so many columns only.")
@click.option(
    "--max-rows",
    type=click.IntRange(min=10),
    default=2000,
    show_default=True,
    help="Measure on a sample of so many rows.",
)
@click.option(
    "--time-limit", type=float, metavar="SECONDS", help="Stop then, with the columns measured so far."
)
@preparing_options
@output_options
def measure(file: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Measure how much every column of FILE says about the target by itself, the most telling first.

    SMI (squared-loss mutual information), HSIC and MI (mutual information) see any dependence, PEARSON
    straight lines only. SMI and MI are scores on rows left out, as in a report. A column that says nothing
    alone may still matter together with others: see l1lsmi select.

    \b
    Example:
      l1lsmi measure patients.csv --target diagnosis --top 20
    """
    quiet = quiet or as_json
    names = _measure_names(options["measures"])
    sort = options["sort"] or names[0]
    if sort not in names:
        raise click.UsageError(f"--sort {sort} is not among --measures {','.join(names)}.")
    check_seconds(options["time_limit"])
    data = load_data(file, quiet, options)
    started = time.perf_counter()
    rows = sample_rows(data.prepared.y, data.prepared.task, options["max_rows"], options["seed"])
    scores, stop = score_columns(data, rows, names, options, quiet)
    result = _document(data, rows, names, sort, scores, stop, time.perf_counter() - started, options["top"])
    if as_json:
        tell(result)
    else:
        click.echo(_summary(result, names))
    return 130 if stop == INTERRUPTED else 0


INTERRUPTED = "Interrupted."
OUT_OF_TIME = "The time limit was reached."


def _measure_names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in MEASURES]
    if unknown or not names:
        raise click.UsageError(f"--measures {text!r} must name some of: {', '.join(MEASURES)}.")
    return names


def _measures(names: tuple[str, ...], task: str, seed: int) -> dict[str, Measure]:
    makers: dict[str, Any] = {
        "smi": lambda: SquaredMutualInformation(task=task, random_state=seed),
        "hsic": lambda: HSIC(task=task),
        "mi": lambda: MutualInformation(task=task, random_state=seed),
        "pearson": lambda: Pearson(task=task),
    }
    return {name: makers[name]() for name in names}


def score_columns(
    data: Data, rows: np.ndarray, names: tuple[str, ...], options: dict[str, Any], quiet: bool
) -> tuple[dict[int, dict[str, float]], str]:
    """Scores by feature and measure, and why it ended before the last feature, if it did."""
    X, y = data.prepared.X[rows], data.prepared.y[rows]
    measures = _measures(names, data.prepared.task, options["seed"])
    limit = options["time_limit"]
    scores: dict[int, dict[str, float]] = {}
    started = time.monotonic()
    size = 1  # several at a time are quicker, so there are more as long as they do not take long
    with Progress(X.shape[1], int(is_watched(quiet)), "column", "measuring") as progress:
        try:
            while len(scores) < X.shape[1]:
                begun = time.monotonic()
                if scores and limit is not None and begun - started >= limit:
                    return scores, OUT_OF_TIME
                block = np.arange(len(scores), min(len(scores) + size, X.shape[1]))
                varying = block[np.ptp(X[:, block], axis=0) > 0]
                found = {name: dict.fromkeys(block.tolist(), 0.0) for name in names}
                for name, by in measures.items():
                    if varying.size:
                        found[name].update(
                            zip(varying.tolist(), by.score_each(X[:, varying], y).tolist(), strict=True)
                        )
                scores.update({j: {name: found[name][j] for name in names} for j in block.tolist()})
                progress.advance(steps=block.size)
                size = 2 * size if time.monotonic() - begun < LOOK_EVERY / 2 else max(1, size // 2)
        except KeyboardInterrupt:
            return scores, INTERRUPTED
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
    order = sorted(scores, key=lambda j: (-abs(scores[j][sort]), j))
    prepared = data.prepared
    return {
        "format": "l1lsmi-measures",
        "version": 1,
        "source": data.table.source,
        "target": prepared.target,
        "task": prepared.task,
        "rows_used": len(rows),
        "sorted_by": sort,
        "measures": list(names),
        "features": [
            {"name": prepared.feature_names[j], "column": prepared.source_columns[j], "scores": scores[j]}
            for j in order[:top]
        ],
        "features_measured": len(scores),
        "features_considered": data.shape[1],
        "stop_reason": stop or None,
        "notes": data.notes,
        "seconds": round(seconds, 4),
    }


def _summary(result: dict[str, Any], names: tuple[str, ...]) -> str:
    rows = [(f["name"], *(f"{f['scores'][name]:.3f}" for name in names)) for f in result["features"]]
    table = text_table(("feature", *(name.upper() for name in names)), rows)
    shown = len(rows)
    more = (
        f"\n  ... and {result['features_measured'] - shown:,} more"
        if shown < result["features_measured"]
        else ""
    )
    words = f"\n{table}{more}\n\nmeasured on {result['rows_used']:,} rows in {result['seconds']:.1f} s"
    if result["stop_reason"] is None:
        return words
    measured, considered = result["features_measured"], result["features_considered"]
    return f"{words}\n{result['stop_reason']} {measured:,} of {considered:,} features were measured."
