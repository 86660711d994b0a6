"""The page with all tables beside the paper's: text from a template, numbers from stored results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Any

from experiments import paper_numbers as paper
from experiments import real_tables as real
from experiments import tables
from experiments.markdown import duration, escape
from experiments.reading import cells_of, method_info, read, read_record, with_rivals
from experiments.summary import NINE, OURS, OURS_AS_IN_PAPER, Errors

TEMPLATE = Path(__file__).with_name("page_template.md")
EXPERIMENTS = ("toys", "subsets", "real", "rivals", "figure")
# Entries of the record of a run that the page shows, and their labels.
RECORD = {
    "command": "command",
    "trials": "trials",
    "seeds": "seeds",
    "versions": "versions",
    "machine": "machine",
    "jobs": "processes",
    "finished": "finished",
    "wall_seconds": "time in all",
    "rows": "results",
    "commit": "commit",
}
# Prefix of comments in the template.
NOTE = "%%"


def main(results_dir: Path, out_path: Path) -> Path:
    """Write the page."""
    out_path = Path(out_path)
    out_path.parent.mkdir(parents=True, exist_ok=True)
    out_path.write_text(render(Path(results_dir)), encoding="utf-8", newline="\n")
    return out_path


def render(results_dir: Path) -> str:
    """The page as text; a name in the template without a value is an error."""
    lines = TEMPLATE.read_text(encoding="utf-8").splitlines()
    template = Template("\n".join(line for line in lines if not line.startswith(NOTE)) + "\n")
    # A removed comment leaves blank lines.
    return re.sub(r"\n{3,}", "\n\n", template.substitute(numbers(results_dir)))


def numbers(results_dir: Path) -> dict[str, str]:
    """Values of the names in the template."""
    rows = {name: read(results_dir, name) for name in EXPERIMENTS}
    return {
        **_toys(rows["toys"]),
        **_subsets(rows["subsets"]),
        **_real(rows["real"], rows["rivals"]),
        **_figure(rows["figure"]),
        "made_with": _made_with(results_dir),
        "paper_top_count": str(paper.TOP_COUNTS["l1-LSMI"]),
    }


def _toys(rows: list[dict[str, Any]]) -> dict[str, str]:
    if not rows:
        return dict.fromkeys(("toy_table", "toy_below", "toy_above"), tables.missing("toys")) | {
            "toy_trials": "no"
        }
    below, above = tables.toy_differences(rows)
    return {
        "toy_table": tables.toy_table(rows),
        "toy_trials": _trials(rows),
        "toy_below": _differences(below),
        "toy_above": _differences(above),
    }


def _differences(found: Sequence[tables.Difference]) -> str:
    cells = (
        f"- {real.label(d.method)} on {tables.TOY_LABELS[d.toy]}: {d.ours:.2f}, the paper {d.printed:.2f}"
        for d in found
    )
    return "\n".join(cells) or "- none"


def _subsets(rows: list[dict[str, Any]]) -> dict[str, str]:
    if not rows:
        return {
            "subset_table": tables.missing("subsets"),
            "subset_trials": "no",
            "subset_lead": "The lead of the true set is not known yet.",
        }
    lead = tables.subset_lead(tables.subset_cells(rows))
    text = "Some subsets have no number, so that the lead is undefined."
    if lead is not None:
        columns = ", ".join(map(str, lead.second))
        text = (
            f"The mean of the true set is {lead.by:.3f} above that of the second, {{{columns}}} (paper: "
            f"{tables.paper_lead():.3f}); it is the largest in {lead.n_first} of {lead.n_draws} draws."
        )
    table = tables.subset_table(rows)
    return {"subset_table": table, "subset_trials": _trials(rows), "subset_lead": text}


def _real(rows: list[dict[str, Any]], rivals: list[dict[str, Any]]) -> dict[str, str]:
    found = {errors.protocol: errors for errors in real.errors_by_protocol(rows)}
    wide = {errors.protocol: errors for errors in real.errors_by_protocol(with_rivals(rows, rivals))}
    protocols, few = list(found.values()), list(wide.values())
    absent, slow = tables.missing("real"), sorted({row["method"] for row in rivals})
    of_paper = [row for row in rows if row["method"] in (*NINE, OURS_AS_IN_PAPER)]
    others = [row for row in rows if row["method"] not in (*NINE, OURS_AS_IN_PAPER)]
    texts = {"real_trials": _trials(rows), "slow_trials": _trials(rivals)}
    texts |= {"real_cost": _cost(of_paper), "rivals_cost": _cost(others), "slow_cost": _cost(rivals)}
    for name in ("paper", "held_out"):
        errors = found.get(name)
        texts[f"paper_methods_{name}"] = real.paper_methods_table(errors) if errors else absent
        texts[f"rivals_{name}"] = real.rivals_table(errors) if errors else absent
        texts[f"slow_{name}"] = (
            real.slow_table(wide[name], slow) if name in wide else tables.missing("rivals")
        )
    for name, make in {
        "ranks": real.ranks_table,
        "pairwise": real.pairwise_table,
        "losses": real.losses_table,
    }.items():
        texts[name] = make(protocols, few) if protocols else absent
    for name, make in {"top_counts": real.top_counts_table, "redundancy": real.redundancy_table}.items():
        texts[name] = make(protocols) if protocols else absent
    errors = found.get("paper")
    texts["within_table"] = real.within_table(errors) if errors else absent
    texts |= dict.fromkeys(("seconds_paper_methods", "seconds_rivals"), absent)
    if errors:
        shown = [name for name in (*NINE, OURS_AS_IN_PAPER) if name in errors.methods]
        texts["seconds_paper_methods"] = real.seconds_table(errors, shown)
        texts["seconds_rivals"] = real.seconds_table(errors, [m for m in errors.methods if m not in shown])
    texts["seconds_slow"] = (
        real.seconds_table(wide["paper"], slow) if "paper" in wide else tables.missing("rivals")
    )
    figures = {
        "critical_difference_figure": (
            "critical_difference",
            "Mean ranks of the predictor-independent methods, with bars over those that do not differ",
        ),
        "ours_against_paper_figure": (
            "ours_against_paper",
            "Errors of the default and of Algorithm 1, over the error that the paper prints for l1-LSMI",
        ),
    }
    texts |= {key: _image(*named) if protocols else absent for key, named in figures.items()}
    return texts | {"in_short": _in_short(protocols) if protocols else absent}


def _in_short(protocols: Sequence[Errors]) -> str:
    lines = []
    for errors in protocols:
        title, n = real.PROTOCOL_LABELS[errors.protocol].capitalize(), len(errors.complete)
        if OURS in errors.methods:
            count = errors.tops(NINE).get(OURS, 0)
            lines.append(
                f"- {title}: default `L1LSMI` is best or tied on {count} of the {n} datasets with complete "
                "data among the paper's nine methods."
            )
        ranks = errors.ranks(errors.independent)
        if ranks and OURS in ranks.methods:
            place = ranks.methods.index(OURS)
            other = 1 if place == 0 else 0
            lines.append(
                f"- {title}: its mean rank is {ranks.ranks[place]:.2f}, place {place + 1} of "
                f"{len(ranks.methods)} predictor-independent methods; the {('first', 'second')[other]} is "
                f"{real.label(ranks.methods[other])} with {ranks.ranks[other]:.2f}."
            )
        if errors.protocol == "paper" and OURS_AS_IN_PAPER in errors.methods:
            inside = errors.within_paper()
            lines.append(
                f'- `algorithm="paper"` is within 2 standard deviations of the paper\'s l1-LSMI on '
                f"{sum(map(bool, inside.values()))} of the {len(inside)} datasets with complete data."
            )
    return "\n".join(lines)


def _cost(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "The time is not known yet."
    done = len({row["trial"] for row in rows})
    return (
        f"Selections and evaluations of {done} trials with these methods and both protocols take "
        f"{duration(real.cost(rows, done))} on {real.CORES} cores; {paper.TRIALS} trials would take "
        f"{duration(real.cost(rows, paper.TRIALS))}."
    )


def _lowest(rows: list[dict[str, Any]]) -> str:
    """At how many points of the figure the mean error of the default is the lowest."""
    means: dict[tuple[str, int], dict[str, float]] = {}
    for (dataset, k, method), cell in cells_of(rows, "dataset", "k", "method").items():
        if cell.done:
            means.setdefault((dataset, k), {})[method] = cell.mean
    ours = [of for of in means.values() if OURS in of]
    return f"{sum(of[OURS] == min(of.values()) for of in ours)} of {len(ours)}"


def _figure(rows: list[dict[str, Any]]) -> dict[str, str]:
    methods = ", ".join(method_info(name).label for name in paper.FIGURE_METHODS)
    image = _image("error_against_k", f"Error against the number of features on 14 datasets: {methods}")
    return {
        "error_against_k_figure": image if rows else tables.missing("figure"),
        "figure_trials": _trials(rows),
        "figure_lowest": _lowest(rows),
    }


def _image(name: str, text: str) -> str:
    return f"![{text}](images/{name}.svg)"


def _trials(rows: list[dict[str, Any]]) -> str:
    return str(len({row["trial"] for row in rows}) or "no")


def _made_with(results_dir: Path) -> str:
    parts = []
    for name in EXPERIMENTS:
        record = read_record(results_dir, name)
        found = {key: record[key] for key in RECORD if record.get(key) is not None}
        if "wall_seconds" in found:
            found["wall_seconds"] = duration(found["wall_seconds"])
        if found:
            lines = (f"- {RECORD[key]}: {_words(value)}" for key, value in found.items())
            parts.append("\n".join([f"**{name}**", "", *lines]))
    return "\n\n".join(parts) or "*No results yet.*"


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{escape(str(key))} {_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(_words(item) for item in value)
    return escape(str(value))
