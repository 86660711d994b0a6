"""Turn a table into what a selector takes: a frame of features and a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from l1lsmi._columns.rules import MAX_LEVELS
from l1lsmi._columns.use import LEFT_OUT, NOT_REQUESTED, ROW_NUMBERS, ColumnUse, left_out_notes
from l1lsmi._messages import counted, listed, printable, quoted
from l1lsmi._task import TASKS
from l1lsmi.files._column_of_cells import column_of_cells
from l1lsmi.files._memory import check_memory
from l1lsmi.files._roles import Roles, read_groups, read_weights
from l1lsmi.files._target import read_targets
from l1lsmi.files._together import rows_together
from l1lsmi.files.problem import FileProblem
from l1lsmi.files.table import Column, DataTable, Values

MISSING = ("keep", "drop", "error")
CONSTANT_IN_ROWS = "constant in the rows that are kept"


@dataclass(frozen=True, eq=False, repr=False)
class Prepared:
    r"""The data that a selector is fitted to.

    Parameters
    ----------
    X : pyarrow.Table
        One column for each feature: numbers, or categories as dictionaries; missing values are null. For a
        table that is read from disk in batches, an object with ``shape`` and ``dataset``.
    y : ndarray of shape (n_samples,), or TargetTable
        float64 for regression, labels as str for classification; a table of such columns for several targets.
    task : str
        "classification", "regression" or "survival"; "auto" for several targets of both kinds.
    feature_names : tuple of str
        Names of columns of the file.
    target : str
        For several targets, all names, separated by commas.
    columns : list of ColumnUse
        How each column of the file is used, in the order of the file.
    notes : tuple of str
        Decisions made, one sentence each; those made while reading the file are in the notes of the table.
    row_numbers : ndarray of int
        Rows of the table that are kept, from 0.
    targets : tuple of str
        Names of all targets.
    tasks : tuple of str
        The task of each target.
    groups : ndarray of str, shape (n_samples,), or None
    sample_weight : ndarray of float64, shape (n_samples,), or None
    covariates : pyarrow.Table or None
        As X.
    preparation : TablePreparation or None
        Transformer that turns other rows into the same features; None for a table that is read in batches.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import prepare, read_table
    >>> prepare(read_table(io.BytesIO(b"a,b,y\n1,2,u\n3,1,v\n5,9,u\n")), "y")
    <3 rows, 2 features, classification of 'y'>
    """

    X: Any
    y: Values
    task: str
    feature_names: tuple[str, ...]
    target: str
    columns: list[ColumnUse]
    notes: tuple[str, ...]
    row_numbers: Values
    targets: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    groups: Values | None = None
    sample_weight: Values | None = None
    covariates: Any = None
    preparation: Any = None

    def __repr__(self) -> str:
        n, m = self.X.shape
        names = quoted(self.target) if len(self.targets) < 2 else listed(self.targets)
        task = "prediction" if self.task == "auto" else self.task
        return f"<{n} rows, {m} features, {task} of {names}>"


def prepare(
    table: DataTable,
    target: str | Sequence[str],
    *,
    task: str = "auto",
    missing: str = "keep",
    na_values: Sequence[str] = (),
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    max_levels: int = MAX_LEVELS,
    groups: str | None = None,
    weights: str | None = None,
    covariates: Sequence[str] = (),
) -> Prepared:
    r"""Turn a table into features and a target.

    The features are those of `l1lsmi.preparation.TablePreparation`: one for each column that can be used, and
    a category is one feature. Rows without a target are left out.

    Parameters
    ----------
    table : DataTable
    target : str or sequence of str
        Name of the column to predict, or of several.
    task : str
        "classification", "regression", "survival", or "auto": text and at most 20 distinct whole numbers are
        classes. For "survival" the targets are two columns: the time, and the event, which is 1 where it was
        observed and 0 where the time is censored.
    missing : str
        What to do with missing values of features. "keep" leaves them missing; "drop" leaves out the row;
        "error" raises an error.
    na_values : sequence of str
        Text that stands for a missing value, as in `l1lsmi.preparation.TablePreparation`; also applied to the
        target, groups, weights and covariates.
    categorical, drop, keep : sequence of str
        As in `l1lsmi.preparation.TablePreparation`.
    max_levels : int
        As in `l1lsmi.preparation.TablePreparation`.
    groups : str or None
        Column with the group of each row; rows of a group belong together.
    weights : str or None
        Column with the weight of each row.
    covariates : sequence of str
        Columns that are in every set that is compared, and are never selected: features are selected for what
        they add to these columns.

    Returns
    -------
    Prepared

    Raises
    ------
    FileProblem
        If a column does not exist, or no feature is left.

    Examples
    --------
    >>> import io
    >>> from l1lsmi.files import prepare, read_table
    >>> text = b"id,age,sex,ill\na1,31,f,yes\na2,,m,no\na3,27,m,no\na4,40,f,yes\n"
    >>> data = prepare(read_table(io.BytesIO(text)), "ill")
    >>> data.X.to_pydict()
    {'age': [31.0, None, 27.0, 40.0], 'sex': ['f', 'm', 'm', 'f']}
    >>> data.y.tolist()
    ['yes', 'no', 'no', 'yes']
    >>> for use in data.columns:
    ...     print(use.name, "-", use.used_as)
    id - left out: every value is different
    age - number
    sex - category with 2 levels
    ill - target
    """
    _check_choices(task, missing, max_levels)
    for option, names in (
        ("drop", drop),
        ("keep", keep),
        ("categorical", categorical),
        ("covariates", covariates),
    ):
        if isinstance(names, str):
            raise ValueError(f"{option}={names!r} must be a sequence of names: pass [{names!r}].")
    targets = _distinct_targets(target)
    what = f"the target {quoted(targets[0])}" if len(targets) == 1 else f"the targets {listed(targets)}"
    roles = Roles(targets, groups, weights, tuple(covariates))
    own = {*targets, *(name for name in (groups, weights) if name is not None)}
    roles.check(table, drop=drop, keep=keep, categorical=[name for name in categorical if name in own])
    for name in categorical:
        table.column(name)
    notes: list[str] = []
    to_predict = [_reread(table, name, na_values, notes) for name in targets]
    rows = np.flatnonzero(~np.logical_or.reduce([column.missing for column in to_predict]))
    if len(targets) > 1 and not rows.size:
        raise FileProblem(
            f"{printable(table.source)} has no row in which all of {what} have a value: choose other targets."
        )
    y, task, tasks = read_targets(to_predict, task, rows, notes)
    if len(rows) < table.n_rows:
        n_dropped = counted(table.n_rows - len(rows), "row")
        notes.insert(0, f"Left out {n_dropped} without a value of {what}.")
    told: dict[str, Any] = {"target": ", ".join(targets), "targets": targets, "tasks": tuple(tasks)}
    if table.on_disk:
        columns = _streamed_uses(table, roles, drop, keep)
        names = tuple(use.name for use in columns if use.used_as == use.kind)
        if not names:
            raise FileProblem(_no_features(table, what, targets, columns))
        return Prepared(
            X=table.streamed(names),
            y=y,
            task=task,
            feature_names=names,
            columns=columns,
            notes=(*notes, *left_out_notes(columns)),
            row_numbers=rows,
            **told,
        )
    settings = {"na_values": na_values, "categorical": categorical, "max_levels": max_levels}
    features = _Features(table, roles, what, drop, keep, settings)
    kept = features.restrict(rows, missing, notes)
    if roles.groups is None:
        notes += rows_together(features.X)
    return Prepared(
        X=features.X,
        y=y if len(kept) == len(rows) else y[np.isin(rows, kept)],
        task=task,
        feature_names=tuple(features.X.column_names),
        columns=features.columns,
        notes=(*notes, *features.notes),
        row_numbers=kept,
        preparation=features.preparation,
        **told,
        **_others(table, roles, settings, kept),
    )


def _distinct_targets(target: str | Sequence[str]) -> tuple[str, ...]:
    targets = (target,) if isinstance(target, str) else tuple(target)
    if not targets:
        raise ValueError("target is empty: pass the name of at least one column.")
    if len(set(targets)) < len(targets):
        twice = next(name for name in targets if targets.count(name) > 1)
        raise FileProblem(f"The target {quoted(twice)} is named twice: name each target once.")
    return targets


def _check_choices(task: str, missing: str, max_levels: int) -> None:
    if task not in TASKS:
        raise ValueError(f"task={task!r} is unknown: pass one of {', '.join(TASKS)}.")
    if missing not in MISSING:
        raise ValueError(f"missing={missing!r} is unknown: pass one of {', '.join(MISSING)}.")
    if max_levels < 2:
        raise ValueError(f"max_levels={max_levels!r} must be a whole number of at least 2.")


def _reread(table: DataTable, name: str, na_values: Sequence[str], notes: list[str]) -> Column:
    """A column that is no feature, with other missing values; what is decided about it is noted."""
    column = table.column(name)
    if column.cells is None and not na_values:
        return column
    return column_of_cells(name, column.as_cells(False), table.decimal, column.raw, tuple(na_values), notes)


def _others(table: DataTable, roles: Roles, settings: dict[str, Any], rows: Values) -> dict[str, Any]:
    """Groups, weights and covariates of the rows, where there are any."""
    found: dict[str, Any] = {}
    if roles.groups is not None:
        found["groups"] = read_groups(_reread(table, roles.groups, settings["na_values"], []), rows)
    if roles.weights is not None:
        found["sample_weight"] = read_weights(_reread(table, roles.weights, settings["na_values"], []), rows)
    if roles.covariates:
        found["covariates"] = _covariates(table, roles.covariates, settings, rows)
    return found


def _covariates(table: DataTable, names: Sequence[str], settings: dict[str, Any], rows: Values) -> Any:
    """A frame of covariates."""
    from l1lsmi.preparation import TablePreparation
    from l1lsmi.preparation.table_preparation import NoFeaturesError

    preparation = TablePreparation(keep=list(names), decimal=table.decimal, **settings)
    try:
        frame = preparation.fit_transform(table)
        columns = preparation.columns_
    except NoFeaturesError as problem:
        columns = problem.columns
    for use in columns:
        if use.name in names and not use.used:
            raise FileProblem(
                f"The covariate {quoted(use.name)} cannot be used, as it is {use.used_as}: leave it out."
            )
    return frame.take(rows)


class _Features:
    """Features of a table in memory.

    Attributes
    ----------
    X : pyarrow.Table
    columns : list of ColumnUse
    notes : list of str
    preparation : TablePreparation
    """

    def __init__(
        self,
        table: DataTable,
        roles: Roles,
        what: str,
        drop: Sequence[str],
        keep: Sequence[str],
        settings: dict[str, Any],
    ) -> None:
        self._table, self._uses = table, roles.used_as()
        self._what, self._targets = what, roles.targets
        self._drop = [*drop, *self._uses]
        self._asked = {**settings, "keep": list(keep), "decimal": table.decimal}
        self._learn({})

    def _learn(self, constant: dict[str, str]) -> None:
        # Imported here: the process that reads HDF5 imports this package, and does not need scikit-learn.
        from l1lsmi.preparation import TablePreparation
        from l1lsmi.preparation.table_preparation import NoFeaturesError

        table = self._table
        check_memory(table.source, 16 * table.n_rows * len(table.columns), "its features")
        self.preparation = TablePreparation(drop=[*self._drop, *constant], **self._asked)
        try:
            self.X = self.preparation.fit_transform(table)
        except NoFeaturesError as problem:
            raise FileProblem(_no_features(table, self._what, self._targets, problem.columns)) from None
        uses = {**constant, **self._uses}
        self.columns = [
            replace(use, used_as=uses[use.name]) if use.name in uses else use
            for use in self.preparation.columns_
        ]
        added = [use for use in self.columns if use.name in constant]
        self.notes = [*self.preparation.notes_, *left_out_notes(added)]

    def restrict(self, rows: Values, missing: str, notes: list[str]) -> Values:
        """Keep some rows, and of these the ones without missing values where that is asked for."""
        kept = self._complete(rows, missing, notes)
        if len(kept) < 2:
            raise FileProblem(
                f"{printable(self._table.source)} has only {counted(len(kept), 'row')} that can be used: at "
                "least 2 are needed."
            )
        if len(kept) == self._table.n_rows:
            return kept
        X = self.X.take(kept)
        constant = [name for name in X.column_names if _is_constant(X.column(name))]
        if constant:
            self._learn(dict.fromkeys(constant, LEFT_OUT + CONSTANT_IN_ROWS))
            X = self.X.take(kept)
        self.X = X
        return kept

    def _complete(self, rows: Values, missing: str, notes: list[str]) -> Values:
        if missing == "keep":
            return rows
        incomplete = [name for name in self.X.column_names if self.X.column(name).null_count]
        if not incomplete:
            return rows
        masks = [np.asarray(self.X.column(name).is_null())[rows] for name in incomplete]
        has_missing = np.logical_or.reduce(masks)
        source = printable(self._table.source)
        if missing == "error" and has_missing.any():
            first = next(name for name, mask in zip(incomplete, masks, strict=True) if mask.any())
            raise FileProblem(
                f"{source} has missing values in {counted(int(has_missing.sum()), 'row')}, first in column "
                f'{quoted(first)}: fill them, or use missing="keep" or missing="drop".'
            )
        kept: Values = rows[~has_missing]
        if len(kept) < 2:
            raise FileProblem(
                f"{source} has {counted(len(kept), 'row')} without missing values, and at least 2 are "
                'needed: use missing="keep", or drop the columns with the most missing values.'
            )
        if len(kept) < len(rows):
            notes.append(f"Left out {counted(len(rows) - len(kept), 'row')} with missing values.")
        return kept


def _no_features(table: DataTable, what: str, targets: Sequence[str], columns: Sequence[ColumnUse]) -> str:
    others = [use for use in columns if use.name not in targets]
    others.sort(key=lambda use: use.used_as == LEFT_OUT + NOT_REQUESTED)
    why = f" ({quoted(others[0].name)} is {others[0].used_as})" if others else ""
    source = printable(table.source)
    return f"{source} has no column besides {what} that can be a feature{why}."


def _is_constant(column: Any) -> bool:
    """Whether a column of Arrow has fewer than two different values."""
    return bool(len(column.drop_null().unique()) < 2)


# -- tables on disk ---------------------------------------------------------------------------


def _streamed_uses(
    table: DataTable, roles: Roles, drop: Sequence[str], keep: Sequence[str]
) -> list[ColumnUse]:
    """How the columns of a table of numbers on disk are used."""
    uses = roles.used_as()
    for column in table.columns:
        if column.name in drop or (keep and column.name not in keep):
            reason = NOT_REQUESTED
        elif not column.feature and column.name not in keep:
            reason = "describes the rows"
        elif column.kind in ("empty", "constant"):
            reason = column.kind
        else:
            reason = ROW_NUMBERS if column.numbers_rows and column.name not in keep else ""
        uses.setdefault(column.name, LEFT_OUT + reason if reason else column.kind)
    return [
        ColumnUse(column.name, column.kind, column.n_missing, uses[column.name]) for column in table.columns
    ]
