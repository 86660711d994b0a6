"""Tables of the 22-dataset experiment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from experiments import paper_numbers as paper
from experiments.markdown import Notes, bold, duration, escape, p_value, seconds, show, table
from experiments.reading import in_order, method_info
from experiments.summary import NINE, NINE_AS_IN_PAPER, OURS, OURS_AS_IN_PAPER, PROTOCOLS, Errors, Ranks

PROTOCOL_LABELS = {"paper": "paper protocol", "held_out": "held out"}
CORES = 2


def label(method: str) -> str:
    """A method's name as printed."""
    return escape(method_info(method).label)


def dataset_label(errors: Errors, dataset: str) -> str:
    """Name, task and k of a dataset, and whether only a part of it was available."""
    row = paper.REAL.get(dataset)
    k = next(cell.rows[0]["k"] for (name, _), cell in errors.cells.items() if name == dataset)
    text = f"{escape(dataset)} ({row.task}, k = {k})" if row else f"{escape(dataset)} (k = {k})"
    return f"{text}, **partial data**" if dataset in errors.partial else text


def paper_methods_table(errors: Errors) -> str:
    """The paper's nine methods, and its algorithm as printed; under each row the paper's own numbers."""
    notes = Notes()
    methods = [name for name in (*NINE, OURS_AS_IN_PAPER) if name in errors.methods]
    lines = []
    for dataset in errors.datasets:
        marked = _tied(errors, dataset, NINE) | (
            _tied(errors, dataset, NINE_AS_IN_PAPER) & {OURS_AS_IN_PAPER}
        )
        lines.append(_line(errors, dataset, methods, marked, notes))
        if errors.protocol == "paper" and dataset in paper.REAL:
            printed = paper.REAL[dataset].cells
            cells = [printed[paper.COLUMN_OF[name]] for name in methods]
            lines.append(["*paper*", *(cell.text() if cell else "—" for cell in cells)])
    return notes.below(table(["dataset", *map(label, methods)], lines))


def rivals_table(errors: Errors) -> str:
    """Default L1LSMI beside the predictor-independent methods that the paper does not have."""
    methods = [OURS, *(name for name in errors.independent if name not in (*NINE, OURS_AS_IN_PAPER))]
    return _plain_table(errors, methods, errors.independent)


def slow_table(errors: Errors, slow: Sequence[str]) -> str:
    """Default L1LSMI beside slow rivals and wrappers, which select with the predictor that scores them."""
    methods = in_order({*slow, *errors.wrappers})
    return _plain_table(errors, [OURS, *methods], errors.methods)


def _plain_table(errors: Errors, methods: Sequence[str], among: Sequence[str]) -> str:
    notes = Notes()
    methods = [name for name in methods if name in errors.methods]
    lines = [_line(errors, d, methods, _tied(errors, d, among), notes) for d in errors.datasets]
    return notes.below(table(["dataset", *map(label, methods)], lines))


def _tied(errors: Errors, dataset: str, among: Sequence[str]) -> frozenset[str]:
    outcome = errors.compare(dataset, among)
    return outcome.tied if outcome else frozenset()


def _line(
    errors: Errors, dataset: str, methods: Iterable[str], marked: Iterable[str], notes: Notes
) -> list[str]:
    cells = (show(errors.get(dataset, name), notes, marked=name in marked) for name in methods)
    return [dataset_label(errors, dataset), *cells]


def top_counts_table(protocols: Sequence[Errors]) -> str:
    """Number of complete datasets where each method is best or tied, in several groups of methods."""
    columns: dict[str, dict[str, int]] = {}
    for errors in protocols:
        fields = {
            "among the nine": NINE,
            "with Algorithm 1 for ours": NINE_AS_IN_PAPER,
            "all but wrappers": errors.independent,
            "all": errors.methods,
        }
        if not errors.wrappers:
            del fields["all"]
        if not errors.able([OURS_AS_IN_PAPER]):
            del fields["with Algorithm 1 for ours"]
        for field, methods in fields.items():
            columns[f"{PROTOCOL_LABELS[errors.protocol]}: {field}"] = errors.tops(methods)
    lines = []
    for name in in_order(name for errors in protocols for name in errors.methods):
        printed = paper.TOP_COUNTS.get(paper.COLUMN_OF[name]) if name in paper.COLUMN_OF else None
        counts = (column.get(name) for column in columns.values())
        shown = ("" if count is None else bold(str(count), name == OURS) for count in counts)
        lines.append([label(name), "" if printed is None else str(printed), *shown])
    return table(["method", f"paper, of {len(paper.REAL)}", *columns], lines)


def rankings(protocols: Sequence[Errors], wide: Sequence[Errors] = ()) -> list[tuple[str, Ranks]]:
    """Rankings of predictor-independent methods: over all complete datasets, and over the common ones.

    The first excludes methods without a number on some dataset; the second includes them on fewer datasets.
    ``wide`` are the errors on the first trials, which slow rivals have too.
    """
    found = []
    for errors in protocols:
        title = PROTOCOL_LABELS[errors.protocol]
        everywhere = errors.ranks(errors.independent)
        if everywhere:
            found.append((f"{title}, {everywhere.n_datasets} datasets", everywhere))
        able = errors.able(errors.independent)
        if everywhere and len(everywhere.methods) < len(able):
            common = errors.ranks(able, errors.common(able))
            if common:
                found.append((f"{title}, {common.n_datasets} common datasets", common))
    for errors in wide:
        ranks = errors.ranks(errors.independent)
        if ranks:
            title = f"{PROTOCOL_LABELS[errors.protocol]}, {ranks.n_datasets} datasets"
            found.append((f"{title}, first {errors.trials} trials", ranks))
    return found


def ranks_table(protocols: Sequence[Errors], wide: Sequence[Errors] = ()) -> str:
    """Mean ranks of the predictor-independent methods, one column for each ranking."""
    found = rankings(protocols, wide)
    if not found:
        return "Too few methods or datasets to rank."
    order = list(dict.fromkeys(name for _, ranks in found for name in ranks.methods))
    lines = []
    for name in order:
        places = (dict(zip(ranks.methods, ranks.ranks, strict=True)).get(name) for _, ranks in found)
        lines.append(
            [label(name), *("—" if place is None else bold(f"{place:.2f}", name == OURS) for place in places)]
        )
    lines.append(["*critical difference*", *(f"{ranks.critical_difference:.2f}" for _, ranks in found)])
    lines.append(["*Friedman test, p*", *(p_value(ranks.friedman_p) for _, ranks in found)])
    gaps = [
        f"- Not ranked in the column {title}: {label(name)} ({escape(why)})."
        for title, ranks in found
        for name, why in ranks.left_out.items()
    ]
    return "\n".join(
        [table(["method", *(title for title, _ in found)], lines), *([""] if gaps else []), *gaps]
    )


def pairwise_table(protocols: Sequence[Errors], wide: Sequence[Errors] = ()) -> str:
    """Default L1LSMI against every other method: datasets where it is better, tied, worse."""
    methods = {name: protocols for errors in protocols for name in errors.methods if name != OURS}
    slow = [name for errors in wide for name in errors.methods if name not in {*methods, OURS}]
    lines = []
    for name, fields in {**methods, **dict.fromkeys(slow, wide)}.items():
        few = f" (first {fields[0].trials} trials)" if name in slow else ""
        line = [label(name) + few, method_info(name).kind]
        for errors in fields:
            counts = errors.pairwise(name)
            line += map(str, counts) if counts else ["—", "—", "—"]
        lines.append(line)
    header = [
        f"{PROTOCOL_LABELS[e.protocol]}: {word}" for e in protocols for word in ("better", "tied", "worse")
    ]
    return table(["against", "kind", *header], lines, text_columns=2)


def within_table(errors: Errors) -> str:
    """Our run of the paper's algorithm against the paper's l1-LSMI column."""
    lines = []
    for dataset, inside in errors.within_paper().items():
        cell, printed = errors.get(dataset, OURS_AS_IN_PAPER), paper.REAL[dataset].cells["l1-LSMI"]
        assert printed is not None
        default = errors.get(dataset, OURS)
        lines.append(
            [
                escape(dataset),
                printed.text().strip("*"),
                show(cell, Notes()),
                "—" if inside is None else "yes" if inside else "**no**",
                f"{cell.mean - printed.mean:+.3f}" if cell and cell.done else "",
                show(default, Notes()),
            ]
        )
    header = ["dataset", "paper", label(OURS_AS_IN_PAPER), "within 2 sd", "difference", label(OURS)]
    return table(header, lines)


def losses_table(protocols: Sequence[Errors], wide: Sequence[Errors] = ()) -> str:
    """Where default L1LSMI is neither best nor tied, and which method is best."""
    lines = []
    seen: set[tuple[str, str, str]] = set()
    for errors in (*protocols, *wide):
        fields: dict[str, Sequence[str]] = {
            "the nine": NINE,
            "all but wrappers": errors.independent,
            "all": errors.methods,
        }
        if errors in wide:
            fields = {f"all, first {errors.trials} trials": errors.methods}
        for field, methods in fields.items():
            for loss in errors.losses(methods):
                # A larger group has a line only if its best method differs.
                if (errors.protocol, loss.dataset, loss.winner) in seen:
                    continue
                seen.add((errors.protocol, loss.dataset, loss.winner))
                name = f"{escape(loss.dataset)}{', partial data' if loss.partial else ''}"
                ours = f"{loss.own.mean:.3f}" if loss.own.done else show(loss.own, Notes())
                p = "" if loss.p_value is None else p_value(loss.p_value)
                protocol = PROTOCOL_LABELS[errors.protocol]
                lines.append([name, protocol, field, label(loss.winner), f"{loss.winner_mean:.3f}", ours, p])
    if not lines:
        return "Nowhere: on every dataset it is best or tied in both protocols."
    header = ["dataset", "protocol", "among", "best", "its error", "ours", "p"]
    return table(header, lines, text_columns=4)


def redundancy_table(protocols: Sequence[Errors]) -> str:
    """Mean absolute correlation between selected columns, averaged over the complete datasets."""
    methods = list(dict.fromkeys(name for errors in protocols for name in errors.methods))
    lines = []
    for name in methods:
        line = [label(name)]
        for errors in protocols:
            found, n = errors.redundancy(name), len(errors.complete)
            few = f" ({found[1]} datasets)" if found and found[1] < n else ""
            line.append(f"{found[0]:.3f}{few}" if found else "—")
        lines.append(line)
    return table(["method", *(PROTOCOL_LABELS[errors.protocol] for errors in protocols)], lines)


def seconds_table(errors: Errors, methods: Sequence[str]) -> str:
    """Median seconds of one selection."""
    lines = [
        [escape(dataset), *(seconds(errors.median_seconds(dataset, name)) for name in methods)]
        for dataset in errors.datasets
    ]
    total = (duration(errors.total_seconds("select_seconds", name)) for name in methods)
    return table(["dataset", *map(label, methods)], [*lines, ["all trials together", *total]])


def cost(rows: Sequence[dict[str, Any]], trials: int) -> float:
    """Estimated seconds of some trials on two cores, from the stored times."""
    # Rows that share a selection or evaluation have its seconds in one of them.
    spent = sum((row["select_seconds"] or 0.0) + (row["evaluate_seconds"] or 0.0) for row in rows)
    return spent * trials / len({row["trial"] for row in rows}) / CORES


def errors_by_protocol(rows: list[dict[str, Any]]) -> list[Errors]:
    """The errors of each protocol with results."""
    return [errors for name in PROTOCOLS if (errors := Errors.of(rows, name)).cells]


def all_tables(rows: list[dict[str, Any]]) -> str:
    """All tables."""
    protocols = errors_by_protocol(rows)
    parts = []
    for errors in protocols:
        title = PROTOCOL_LABELS[errors.protocol].capitalize()
        parts += [f"### {title}: the paper's methods", paper_methods_table(errors)]
        parts += [f"### {title}: current rivals", rivals_table(errors)]
        if errors.wrappers:
            parts += [f"### {title}: wrappers", slow_table(errors, [])]
        if errors.protocol == "paper":
            parts += ["### Algorithm 1 against the paper's column", within_table(errors)]
        parts += [f"### {title}: median seconds of a selection", seconds_table(errors, errors.methods)]
    parts += ["### Top counts", top_counts_table(protocols), "### Mean ranks", ranks_table(protocols)]
    parts += ["### One against one", pairwise_table(protocols), "### Where it loses", losses_table(protocols)]
    parts += ["### Redundancy rate", redundancy_table(protocols)]
    return "\n\n".join(parts)
