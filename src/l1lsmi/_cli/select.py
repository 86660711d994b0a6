"""``l1lsmi select``: the few columns of a file that best predict a target."""

from __future__ import annotations

import json
import time
import warnings
from contextlib import nullcontext
from typing import Any

import click
from sklearn.exceptions import ConvergenceWarning

from l1lsmi._atomic_file import write_atomically
from l1lsmi._checkpoint import CheckpointError
from l1lsmi._cli.checks import check_auto, check_k, check_outputs, check_time_limit, command_budget
from l1lsmi._cli.data import Data, load_data, na_values
from l1lsmi._cli.fitting import configured, features_for, fit_arguments
from l1lsmi._cli.imports import import_model
from l1lsmi._cli.interrupt import INTERRUPTED
from l1lsmi._cli.output import is_interactive, print_json, print_message, spinner
from l1lsmi._cli.selection import document
from l1lsmi._cli.text import count, one_line, printable, text_table, warning_lines, wrapped
from l1lsmi._clock import check_time, limited, while_time_is_left
from l1lsmi._warnings import DataWarning
from l1lsmi.evaluation._words import model_sentences
from l1lsmi.explain import Contributions, contributions, sample_rows
from l1lsmi.explain._evidence import (
    WARNINGS,
    evidence,
    has_evidence,
    how_many,
    told_left_out,
    told_stop_reason,
)
from l1lsmi.explain.contributions import rows_for
from l1lsmi.files import write_table
from l1lsmi.methods import METHODS
from l1lsmi.strategies.selection import StopReason

#: Share of the time limit that the search may take where a report or a model comes after it, and where only
#: what each feature contributes does; seconds that it has at least.
SHARE_OF_SEARCH = 0.6
SHARE_ALONE = 0.85
SHORTEST = 1e-3
#: Share of the time left after the search that the explanation may take before a model is tested.
SHARE_OF_EXPLANATION = 0.5
#: What is said where the time is out before a model is tested.
NOT_TESTED = told_left_out(["the test of a model on held-out rows"])[0]


def run(file: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Run ``l1lsmi select``."""
    quiet = quiet or as_json
    check_outputs(file, {name: options[name] for name in ("report", "save", "output", "resume")})
    method = METHODS[options["method"]]
    check_time_limit(options["time_limit"], method)
    budget = command_budget(options["time_limit"])
    check_auto(options["k"], method)
    model = import_model(options["model"])
    evaluated = bool(options["report"]) or model is not None
    in_memory = evaluated or not method.make()._supports_out_of_core()
    data = load_data(file, quiet, options, in_memory)
    k = "auto" if options["k"] == "auto" else check_k(options["k"], data.shape[1])
    asked = {"method": method.name, "k": k, "seed": options["seed"], "time_limit": options["time_limit"]}
    # How many features are selected, and from how many columns, is known only after a search that chooses it;
    # where rows outnumber columns, it mostly is from all columns.
    ahead = evaluated and k != "auto" and data.shape[1] <= data.shape[0]
    process: Any = _held_out(method, data, asked, model) if evaluated else nullcontext()
    with process as held_out:
        if ahead:
            held_out.begin(_unfitted(method, data, asked, options), k)
        left = budget.part(SHARE_OF_SEARCH if evaluated else SHARE_ALONE).left()
        searched = {**asked, "time_limit": None if left is None else max(left, SHORTEST)}
        selector, seconds, notes = fit(method, data, searched, options, quiet)
        interrupted = getattr(selector, "stop_reason_", None) == StopReason.INTERRUPTED
        scores, contributed, explanation = None, None, None
        if selector.get_support().any() and not interrupted:
            if evaluated and not (ahead and _searched_all(selector)):
                held_out.begin(selector, int(selector.get_support().sum()))
            try:
                with while_time_is_left(budget), spinner("measuring what each feature contributes", quiet):
                    check_time()
                    contributed = measured_contributions(selector, data, asked["seed"])
                if options["report"]:
                    # Another process may test a model meanwhile.
                    part = budget.part(SHARE_OF_EXPLANATION)
                    with while_time_is_left(part), spinner("explaining the selection", quiet):
                        check_time()
                        explanation = _explained(selector, data, contributed, asked["seed"])
                if evaluated:
                    with limited(budget):
                        scores = _scores(held_out, quiet)
            except KeyboardInterrupt:
                interrupted = True
        no_time = evaluated and scores is None and not interrupted and selector.get_support().any()
        notes += [NOT_TESTED] if no_time and budget.spent() else []
        named = {**asked, **_named(data, options), "model": options["model"]}
        result = document(selector, data, named, seconds, notes, contributed, scores)
        interrupted |= not _write(result, selector, data, options, as_json, quiet, scores)
        if options["report"] and not interrupted:
            from l1lsmi._cli.reporting import write_selection_report

            interrupted = not write_selection_report(
                options["report"],
                selector,
                seconds,
                data,
                options,
                quiet,
                method=method,
                # Without time, the report says that there was none.
                held_out=scores or (no_time and budget.spent()),
                contributions=contributed,
                explanation=explanation,
                budget=budget,
            )
        elif interrupted and evaluated:
            print_message("Interrupted: the report was not written." if options["report"] else "Interrupted.")
    return INTERRUPTED if interrupted else 0


def measured_contributions(selector: Any, data: Data, seed: int) -> Contributions:
    """What each selected feature contributes, measured on a sample of the rows."""
    prepared = data.prepared
    n_selected = int(selector.get_support().sum())
    rows = sample_rows(prepared.y, prepared.task, rows_for(n_selected), seed)
    names = prepared.feature_names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts of the rows
        return contributions(
            selector,
            features_for(data.features, rows),
            prepared.y[rows],
            random_state=seed,
            feature_names=names,
        )


def _scores(held_out: Any, quiet: bool) -> Any:
    """How well a model predicts held-out rows."""
    with spinner("testing a model on held-out rows", quiet):
        return held_out.scores()


def _explained(selector: Any, data: Data, contributed: Contributions | None, seed: int) -> Any:
    from l1lsmi._cli.reporting import explained

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of parts of the rows
        return explained(selector, data, contributed, seed)


def _named(data: Data, options: dict[str, Any]) -> dict[str, Any]:
    """Columns that were named by options, for the document."""
    lists = ("categorical", "covariates", "include", "exclude")
    return {
        "na_values": list(na_values(options["na_values"])),
        **{name: options[name] for name in ("groups", "weights")},
        **{name: data.names(options[name]) for name in lists},
    }


def _held_out(method: Any, data: Data, asked: dict[str, Any], model: Any) -> Any:
    """How well a model predicts held-out rows, measured by another process."""
    from l1lsmi._cli.held_out import HeldOutProcess

    return HeldOutProcess(data, method.name, model, asked["seed"])


def _unfitted(method: Any, data: Data, asked: dict[str, Any], options: dict[str, Any]) -> Any:
    """A selector that folds of the rows are given to during the search."""
    selector = method.make(asked["k"], task=data.prepared.task, random_state=asked["seed"])
    if "pool" in selector.get_params():
        selector.set_params(pool=None)
    return configured(selector, data, method.name, {**options, "jobs": None, "resume": None})


def _searched_all(selector: Any) -> bool:
    """Whether a search could choose from all columns, rather than from a pool that unseen rows chose."""
    validation = getattr(selector, "validation_", None)
    return validation is None or validation.best_pool == validation.pool[-1]


def fit(
    method: Any, data: Data, asked: dict[str, Any], options: dict[str, Any], quiet: bool
) -> tuple[Any, float, list[str]]:
    """A fitted selector, the seconds it took, and its warnings."""
    selector = method.make(
        asked["k"],
        task=data.prepared.task,
        random_state=asked["seed"],
        time_limit=asked["time_limit"],
        verbose=int(is_interactive(quiet)),
    )
    selector = configured(selector, data, method.name, options)
    given = fit_arguments(selector, data, method.name)
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            selector.fit(features_for(data.features), data.prepared.y, **given)
        except CheckpointError as error:
            raise CheckpointError(str(error).replace("checkpoint=", "--resume ", 1)) from error
    seconds = time.perf_counter() - started
    # Why the search stopped early is in stop_reason, and what to know about the data in warnings_.
    said = (ConvergenceWarning, DataWarning)
    notes = [one_line(str(w.message)) for w in caught if not issubclass(w.category, said)]
    return selector, seconds, list(dict.fromkeys(notes))


def _write(
    result: dict[str, Any],
    selector: Any,
    data: Data,
    options: dict[str, Any],
    as_json: bool,
    quiet: bool,
    scores: Any,
) -> bool:
    """Write files, then print; False if Ctrl-C interrupted a write.

    What is printed about files is true, and the result is printed also where a file cannot be written.
    """
    written, problem, interrupted = [], None, ""
    for name, write, what in (
        ("save", _write_document, "selection"),
        ("output", _write_columns, _output_words(result, data)),
    ):
        if not options[name] or interrupted:
            continue
        try:
            write(result, data, options[name])
            written.append(f"{what}: {printable(options[name])}")
        except KeyboardInterrupt:
            interrupted = f"Interrupted: {printable(options[name])} was not written."
        except Exception as error:
            problem = problem or error
    if as_json:
        print_json(result)
    else:
        click.echo(wrapped(_summary(result, selector, scores)))
    for line in written:
        print_message(line, quiet)
    if interrupted:
        print_message(interrupted)
    if problem is not None:
        raise problem
    return not interrupted


def _write_document(result: dict[str, Any], data: Data, path: str) -> None:
    text = json.dumps(result, indent=2, ensure_ascii=True) + "\n"
    write_atomically(path, text.encode("utf-8"))


def _write_columns(result: dict[str, Any], data: Data, path: str) -> None:
    names = [*result["columns"], *data.prepared.targets]
    write_table(data.table.load(names), names, path)


def _output_words(result: dict[str, Any], data: Data) -> str:
    """What --output writes."""
    if not result["columns"]:
        return f"target{'s' * (len(data.prepared.targets) > 1)} only, as no columns are selected"
    rows = "the only row" if data.table.n_rows == 1 else f"all {data.table.n_rows:,} rows"
    return f"selected columns of {rows}, values as in the file"


def _summary(result: dict[str, Any], selector: Any, scores: Any) -> str:
    features = result["features"]
    lines = [
        *warning_lines([each for each in result["warnings"] if not each.startswith(WARNINGS)]),
        f"\nselected {len(features) or 'none'} of {count(result['features_considered'], 'feature')} "
        f"by {result['method']} in {result['seconds']['select']:.2f} s\n",
    ]
    if features:
        lines += [_table(features), ""]
    lines += [text for say in (evidence, how_many) if (text := say(selector))]
    lines += [one_line(result["dispensable"]["sentence"])] if result["dispensable"] else []
    if scores is not None and has_evidence(selector) is not False:
        lines += model_sentences(scores, result["features_considered"])
    lines += [text for text in [told_stop_reason(selector)] if text]
    lines += [NOT_TESTED] if NOT_TESTED in result["notes"] else []
    return "\n".join(lines)


def _table(features: list[dict[str, Any]]) -> str:
    """The features, with what each contributes and how often it was selected, where that is known."""
    columns: list[tuple[str, Any]] = []
    if features[0]["contribution"] is not None:
        columns += [
            ("contribution", lambda one: _percent(one["contribution"])),
            ("±", lambda one: _percent(one["standard_error"])),
        ]
    if features[0]["frequency"] is not None:
        columns.append(("selected in", lambda one: _percent(one["frequency"], 0)))
    rows = [(one["name"], *(show(one) for _, show in columns)) for one in features]
    return text_table(("feature", *(title for title, _ in columns)), rows)


def _percent(share: float, digits: int = 1) -> str:
    """A share in percent, without a minus sign before 0."""
    return f"{round(100 * share, digits) + 0.0:.{digits}f} %"
