"""Columns that are reported beside a selection: found in a sample of the rows, and checked on all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from l1lsmi._blas import single_threaded_blas
from l1lsmi._numerics.leaks.all_rows import Found, check_on_all_rows
from l1lsmi._numerics.leaks.copies import Pairs, copies_in, groups_of
from l1lsmi._numerics.leaks.of_order import depends_on_order, monotone_in
from l1lsmi._numerics.leaks.of_target import TargetLeak, leaks_in
from l1lsmi._numerics.leaks.sample import Sample
from l1lsmi._numerics.target import Target
from l1lsmi._rows.table import RowTable


@dataclass(frozen=True)
class Leaks:
    """Columns that give away the target, number the rows, or are copies.

    Attributes
    ----------
    of_target : tuple of TargetLeak
    numberings : tuple of (int, int)
        Columns that go up (1) or down (-1) from row to row, where the target depends on the order.
    copies, functions, near : tuple of tuple of int
        Groups of columns that are copies of each other, monotone functions of each other, and copies with
        noise.
    """

    of_target: tuple[TargetLeak, ...] = ()
    numberings: tuple[tuple[int, int], ...] = ()
    copies: tuple[tuple[int, ...], ...] = ()
    functions: tuple[tuple[int, ...], ...] = ()
    near: tuple[tuple[int, ...], ...] = ()


@single_threaded_blas()
def find_leaks(table: RowTable, target: Target) -> Leaks:
    """Find them.

    Parameters
    ----------
    table : RowTable
        Its sample is read once, and all its rows once more where there is something to check on them.
    target : Target

    Returns
    -------
    Leaks
    """
    sample = Sample.of(table, target)
    of_target = leaks_in(sample)
    directions = monotone_in(sample)
    numberings = [(int(j), int(directions[j])) for j in np.flatnonzero(directions)]
    if numberings and not depends_on_order(target):
        numberings = []
    # Where rows are sorted by class, numbers of rows are apart, too.
    numbered = {j for j, _ in numberings}
    of_target = [leak for leak in of_target if leak.kind != "ranges" or leak.column not in numbered]
    given_away = [leak.column for leak in of_target]
    others = np.setdiff1d(sample.columns, given_away) if given_away else sample.columns
    found = Found(of_target, numberings, copies_in(sample, others))
    if not sample.complete and (of_target or numberings or found.pairs.one.size):
        found = _checked(table, target, found)
    known = {leak.column for leak in found.of_target}
    only_numbers = tuple((j, sign) for j, sign in found.numberings if j not in known)
    return Leaks(tuple(sorted(found.of_target)), only_numbers, *_groups(table.n_columns, found.pairs))


def _checked(table: RowTable, target: Target, found: Found) -> Found:
    """What holds on all rows: one pass over them, and one more for each further target with leaks."""
    one, *others = target.each()
    checked = check_on_all_rows(
        table, one, found._replace(of_target=[leak for leak in found.of_target if leak.target == 0])
    )
    of_target = list(checked.of_target)
    nothing = found.pairs.where(np.empty(0, dtype=np.intp))
    for number, other in enumerate(others, start=1):
        leaks = [leak for leak in found.of_target if leak.target == number]
        if leaks:
            alone = check_on_all_rows(table, other, Found(leaks, [], nothing))
            of_target += [leak._replace(target=number) for leak in alone.of_target]
    return checked._replace(of_target=of_target)


def _groups(n: int, pairs: Pairs) -> list[tuple[tuple[int, ...], ...]]:
    """Groups of columns by kind: one with a looser kind of likeness inside is of that kind."""
    first = groups_of(n, pairs)
    kind_of = np.zeros(n, dtype=int)
    np.maximum.at(kind_of, first[pairs.one], pairs.kind)
    members: dict[int, list[int]] = {}
    for j in np.unique(np.concatenate([pairs.one, pairs.other])).tolist():
        members.setdefault(int(first[j]), []).append(j)
    return [
        tuple(tuple(group) for root, group in members.items() if kind_of[root] == kind) for kind in range(3)
    ]
