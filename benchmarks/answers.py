"""The answers of one version of the library, written down, and compared with those of another.

    L1LSMI_DATA=directory OMP_NUM_THREADS=1 python benchmarks/answers.py record answers.json [--only TEXT]
    python benchmarks/answers.py compare old.json new.json [--only TEXT] [--tolerance 1e-9]

The cases are those of `answer_cases.py`. `compare` ends with status 1 if a case is missing, is refused by one
version only, selects another set, or has a number that differs by more than the tolerance, both absolutely
and relatively. Messages that are worded differently are listed, and are no exceptions.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
from threadpoolctl import threadpool_limits

#: Numbers and words that a fit has stored, or that it was refused.
Answer = dict[str, Any]


def learned(selector: Any) -> Answer:
    """Everything that a fit has stored: numbers, and apart from them what is said in words."""
    numbers: dict[str, Any] = {}
    words: dict[str, str] = {}
    for name, value in vars(selector).items():
        if not name.endswith("_") or name.startswith("_") or name.endswith("_in_"):
            continue
        if isinstance(value, str):
            words[name] = str(value)
        elif name == "path_":
            numbers["path_ sizes"] = [int(point.size) for point in value]
        elif name == "support_":
            numbers[name] = np.flatnonzero(value).tolist()
        elif name == "weights_":
            numbers[name] = [[int(j), float(value[j])] for j in np.flatnonzero(value)]
        else:
            numbers[name] = np.asarray(value, dtype=float).tolist()
    return {"numbers": numbers, "words": words}


def run_case(run: Callable[[], Any]) -> Answer:
    """What was learned or why the fit was refused, and the seconds it took."""
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = learned(run())
    except Exception as error:
        found = {"refused": type(error).__name__, "numbers": {}, "words": {"refused": str(error)}}
    return {**found, "seconds": round(time.perf_counter() - started, 4)}


def use_one_thread() -> None:
    """Products are small: threads would only wait for each other, and sums would be rounded differently."""
    threadpool_limits(1)
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)


@click.group(help=__doc__.splitlines()[0])
def main() -> None:
    pass


@main.command()
@click.argument("out", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--only", default="", help="Cases whose name contains this.")
def record(out: Path, only: str) -> None:
    """Fit every case and write what was learned to OUT."""
    import l1lsmi
    from answer_cases import cases

    use_one_thread()
    print(f"l1lsmi of {Path(l1lsmi.__file__).parent}", flush=True)
    started = time.perf_counter()
    answers: dict[str, Answer] = {}
    last = ""
    for name, run in cases(only):
        if name in answers:
            raise RuntimeError(f"Two cases have the name {name!r}.")
        group = name.split("/")[0]
        if group != last:
            print(f"{time.perf_counter() - started:6.0f} s {len(answers):>6} cases, then {group}", flush=True)
            last = group
            out.write_text(json.dumps(answers, indent=0))  # what there is if it is stopped
        answers[name] = run_case(run)
    out.write_text(json.dumps(answers, indent=0))
    refused = Counter(answer["refused"] for answer in answers.values() if "refused" in answer)
    print(f"{len(answers)} cases in {time.perf_counter() - started:.0f} s: {out}")
    print(f"refused: {', '.join(f'{count} by {kind}' for kind, count in refused.items()) or 'none'}")


def difference(a: Any, b: Any) -> float:
    """Largest difference of two numbers or lists, absolute or relative, whichever is less."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape:
        return np.inf
    with np.errstate(invalid="ignore"):
        off = np.abs(a - b) / np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return float(np.where(same, 0, np.nan_to_num(off, nan=np.inf)).max(initial=0))


def differences(old: Answer, new: Answer) -> dict[str, float]:
    """How far every attribute is off; infinitely far what only one of them has."""
    if old.get("refused") != new.get("refused"):
        return {"refused": np.inf}
    a, b = old["numbers"], new["numbers"]
    return {name: difference(a[name], b[name]) if name in a and name in b else np.inf for name in {**a, **b}}


def shown(old: Answer, new: Answer, name: str) -> tuple[str, str]:
    """Two values that differ, each in a line: of lists of one length what is at the places that differ."""
    if name == "refused":
        return tuple(answer["words"].get(name, "not refused") for answer in (old, new))
    a, b = (answer["numbers"].get(name) for answer in (old, new))
    if name != "support_" and isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        places = [j for j in range(len(a)) if difference(a[j], b[j]) > 0]
        a, b = ({j: values[j] for j in places} for values in (a, b))
    return tuple(text if len(text) <= 200 else f"{text[:200]} ..." for text in (str(a), str(b)))


def print_groups(
    old: dict[str, Answer], new: dict[str, Answer], off: dict[str, dict[str, float]], tolerance: float
) -> None:
    """For every group: its cases, how many have the same set and numbers, and the seconds they took."""
    titles = ("cases", "set", "numbers", "every bit", "off by", "old s", "new s")
    print(f"{'the same:':<24}" + "".join(f"{title:>11}" for title in titles))
    groups: dict[str, list[str]] = {}
    for name in off:
        groups.setdefault(name.split("/")[0], []).append(name)
    for group, names in {**groups, "all": list(off)}.items():
        largest = np.array([max(off[name].values(), default=0) for name in names])
        sets = sum(off[name].get("support_", off[name].get("refused", 0)) == 0 for name in names)
        counts = (len(names), sets, int((largest <= tolerance).sum()), int((largest == 0).sum()))
        seconds = [sum(version[name]["seconds"] for name in names) for version in (old, new)]
        print(f"{group:<24}" + "".join(f"{count:>11}" for count in counts), end="")
        print(f"{largest.max(initial=0):>11.0e}" + "".join(f"{each:>11.1f}" for each in seconds))


def print_exception(name: str, old: Answer, new: Answer, sizes: dict[str, float]) -> None:
    print(f"\n{name}")
    for attribute, size in sizes.items():
        a, b = shown(old, new, attribute)
        print(f"  {attribute} is off by {size:.1e}\n    old {a}\n    new {b}")


def print_words(old: dict[str, Answer], new: dict[str, Answer]) -> None:
    """Every pair of sentences that differ, once."""
    pairs = Counter(
        (sentence, new[name]["words"].get(key, "(none)"))
        for name in old.keys() & new.keys()
        for key, sentence in old[name]["words"].items()
    )
    for (a, b), count in sorted(pairs.items()):
        if a != b:
            print(f"\nworded differently in {count} cases\n    old {a}\n    new {b}")


@main.command()
@click.argument("old", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("new", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--only", default="", help="Cases whose name contains this.")
@click.option("--tolerance", default=1e-9, show_default=True)
def compare(old: Path, new: Path, only: str, tolerance: float) -> None:
    """Print how the answers in NEW differ from those in OLD; status 1 if any do."""
    a, b = (
        {name: answer for name, answer in json.loads(path.read_text()).items() if only in name}
        for path in (old, new)
    )
    off = {name: differences(a[name], b[name]) for name in a if name in b}
    if not off:
        raise click.ClickException("The two files have no case in common.")
    print_groups(a, b, off, tolerance)
    wrong = {
        name: {attribute: size for attribute, size in sizes.items() if size > tolerance}
        for name, sizes in off.items()
        if max(sizes.values(), default=0) > tolerance
    }
    for name, sizes in wrong.items():
        print_exception(name, a[name], b[name], sizes)
    print_words(a, b)
    missing = sorted(a.keys() ^ b.keys())
    for name in missing:
        print(f"only in {old if name in a else new}: {name}")
    by_attribute = Counter(attribute for sizes in wrong.values() for attribute in sizes)
    print(f"\n{len(wrong)} of {len(off)} cases differ, {len(missing)} are in one file only")
    print(
        "".join(f"  {attribute}: {count} cases\n" for attribute, count in by_attribute.most_common()), end=""
    )
    sys.exit(bool(wrong or missing))


if __name__ == "__main__":
    main()
