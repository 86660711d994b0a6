"""Columns of a table that are no features: groups, weights and covariates of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from l1lsmi._messages import counted, quoted
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import Column, DataTable, Values

#: What each role is called in messages.
TITLES = {"target": "The target", "groups": "The column of groups", "weights": "The column of weights"}


@dataclass(frozen=True)
class Roles:
    """Names of the columns that are no features.

    Parameters
    ----------
    targets : tuple of str
    groups, weights : str or None
    covariates : tuple of str
    """

    targets: tuple[str, ...]
    groups: str | None = None
    weights: str | None = None
    covariates: tuple[str, ...] = ()

    def used_as(self) -> dict[str, str]:
        """How each of these columns is used."""
        uses = dict.fromkeys(self.covariates, "covariate")
        for role in ("weights", "groups"):
            if (name := getattr(self, role)) is not None:
                uses[name] = role
        return {**uses, **dict.fromkeys(self.targets, "target")}

    def check(self, table: DataTable, **others: Sequence[str]) -> None:
        """Check that all names exist, and that no column has two roles.

        Parameters
        ----------
        table : DataTable
        **others : sequence of str
            Names in other parameters, which must be none of these.
        """
        roles: dict[str, str] = {}
        for name in self.targets:
            self._add(table, roles, name, "target")
        for role in ("groups", "weights"):
            if (name := getattr(self, role)) is not None:
                self._add(table, roles, name, role)
        for name in self.covariates:
            self._add(table, roles, name, "covariates")
        for option, names in others.items():
            for name in names:
                table.column(name)
                if name in roles:
                    what = TITLES.get(roles[name], "The covariate")
                    raise FileProblem(f"{what} {quoted(name)} cannot be in {option} too: name it once.")

    @staticmethod
    def _add(table: DataTable, roles: dict[str, str], name: str, role: str) -> None:
        table.column(name)
        if name in roles:
            what = TITLES.get(roles[name], "The covariate")
            raise FileProblem(f"{what} {quoted(name)} cannot be in {role} too: name it once.")
        roles[name] = role


def read_groups(column: Column, rows: Values) -> Values:
    """The group of each row that is kept, as text."""
    _check_complete(column, rows, "groups")
    if column.numeric and column.words == ("0", "1"):
        return np.array([f"{value:.17g}" for value in column.values[rows].tolist()])
    return np.asarray(_labels(column)[rows], dtype=str)


def _labels(column: Column) -> Values:
    if not column.numeric:
        return column.values
    words = np.array([*column.words, None], dtype=object)
    return np.asarray(words[np.nan_to_num(column.values, nan=-1).astype(int)])


def read_weights(column: Column, rows: Values) -> Values:
    """The weight of each row that is kept."""
    if not column.numeric or column.kind == "date":
        raise FileProblem(
            f"{TITLES['weights']} {quoted(column.name)} has values that are not numbers: choose another "
            "column."
        )
    _check_complete(column, rows, "weights")
    weights: Values = column.values[rows]
    if (weights < 0).any() or not (weights > 0).any():
        what = "negative numbers" if (weights < 0).any() else "no number above 0"
        raise FileProblem(
            f"{TITLES['weights']} {quoted(column.name)} has {what}: weights are 0 or more, and not all 0."
        )
    return weights


def _check_complete(column: Column, rows: Values, role: str) -> None:
    n_missing = int(np.count_nonzero(column.missing[rows]))
    if n_missing:
        raise FileProblem(
            f"{TITLES[role]} {quoted(column.name)} has no value in {counted(n_missing, 'row')}: fill in "
            "the values, or leave these rows out of the file."
        )
