"""The command line: ``python -m experiments run toys``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
DOCS = Path(__file__).parent.parent / "docs"
#: Exit status of an unfinished run.
INCOMPLETE = 3


def main(arguments: list[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        return options.do(options)
    except (ValueError, RuntimeError, OSError) as error:
        print(f"experiments: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="The paper's experiments.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run", help="run the unfinished part of an experiment")
    run.add_argument("config", help="toys, subsets, real, rivals, figure, or a .toml file")
    run.add_argument("--out", type=Path, default=RESULTS, help="directory of the results")
    run.add_argument("--trials", type=int, help="number of trials (as in the configuration)")
    run.add_argument("--jobs", type=int, default=2, help="number of processes (2)")
    run.add_argument("--methods", nargs="+", metavar="NAME", help="run only these methods")
    run.add_argument("--datasets", nargs="+", metavar="NAME", help="run only these datasets")
    run.add_argument("--data", help="directory with local copies of real datasets")
    run.add_argument("--time-limit", type=float, metavar="SECONDS", help="start no method after this time")
    run.set_defaults(do=_run)
    tables = commands.add_parser("tables", help="print tables of stored results")
    tables.add_argument("experiment", nargs="?", help="toys, subsets or real (all)")
    tables.add_argument("--out", type=Path, default=RESULTS, help="directory of the results")
    tables.set_defaults(do=_tables)
    figures = commands.add_parser("figures", help="draw figures of stored results")
    figures.add_argument("--out", type=Path, default=RESULTS, help="directory of the results")
    figures.add_argument("--to", type=Path, default=DOCS / "images", help="directory of the figures")
    figures.set_defaults(do=_figures)
    page = commands.add_parser("page", help="write the page that compares stored results with the paper's")
    page.add_argument("--out", type=Path, default=RESULTS, help="directory of the results")
    page.add_argument("--to", type=Path, default=DOCS / "paper.md", help="the page")
    page.set_defaults(do=_page)
    losses = commands.add_parser("losses", help="compare sets by their score where another method is better")
    losses.add_argument("--out", type=Path, default=RESULTS, help="directory of the results")
    losses.add_argument("--data", help="directory with local copies of real datasets")
    losses.set_defaults(do=_losses)
    listing = commands.add_parser("list", help="methods, datasets and configurations")
    listing.set_defaults(do=_list)
    return parser


def _run(options: argparse.Namespace) -> int:
    from experiments.processes import prepare

    prepare()
    from experiments.config import read_config
    from experiments.run import run, summary

    config = read_config(options.config).with_choices(options.trials, options.methods, options.datasets)
    outcome = run(
        config,
        options.out,
        jobs=options.jobs,
        time_limit=options.time_limit,
        data=options.data,
        command=_command(options),
    )
    print("\n".join(summary(outcome)))
    return INCOMPLETE if outcome.n_left else 0


def _command(options: argparse.Namespace) -> str:
    """The command without the directories of this machine."""
    words = ["python", "-m", "experiments", "run", options.config]
    for name in ("trials", "jobs", "methods", "datasets", "time_limit"):
        value = getattr(options, name)
        if value is not None:
            words += [
                f"--{name.replace('_', '-')}",
                *(map(str, value) if isinstance(value, list) else [str(value)]),
            ]
    return shlex.join(words)


def _tables(options: argparse.Namespace) -> int:
    from experiments import tables

    _merge_parts(options.out)
    tables.main(options.out, options.experiment)
    return 0


def _figures(options: argparse.Namespace) -> int:
    from experiments import figures

    _merge_parts(options.out)
    print(*figures.main(options.out, options.to), sep="\n")
    return 0


def _page(options: argparse.Namespace) -> int:
    from experiments import page

    _merge_parts(options.out)
    print(page.main(options.out, options.to))
    return 0


def _losses(options: argparse.Namespace) -> int:
    import os

    if options.data is not None:
        os.environ["L1LSMI_DATA"] = options.data
    from experiments import losses

    losses.main(options.out)
    return 0


def _merge_parts(directory: Path) -> None:
    """Merge parts that a killed run left; those of a running one are not touched."""
    from experiments.store import InUseError, Store

    for parts in sorted(directory.glob("*.parts")):
        store = Store(directory, parts.stem)
        try:
            with store.lock():
                store.compact()
        except InUseError as error:
            print(f"experiments: results that are not merged yet are ignored. {error}", file=sys.stderr)


def _list(options: argparse.Namespace) -> int:
    from experiments.config import config_names
    from experiments.registry import all_methods, all_problems

    print("configurations:", *config_names())
    print("\nmethods")
    for method in all_methods().values():
        needs = f", needs {', '.join(method.needs)}" if method.needs else ""
        print(f"  {method.name:<18}{method.label} ({method.kind}{needs})")
    print("\ndatasets")
    for problem in all_problems().values():
        kind = f"{problem.n_classes} classes" if problem.n_classes else "regression"
        print(f"  {problem.name:<18}{problem.n_features} features, {kind}, k = {problem.k}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
