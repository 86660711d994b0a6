"""From a published table to the features and the target that the paper used."""

from __future__ import annotations

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi.datasets.dataset import Dataset
from l1lsmi.datasets.entry import Entry, Recipe
from l1lsmi.datasets.tables import RawTable, as_numbers


def prepare(name: str, table: RawTable, entry: Entry, source: str) -> Dataset:
    """Pick the columns, give numbers to words, and standardise as in the paper's copy.

    Parameters
    ----------
    name : str
    table : RawTable
    entry : Entry
    source : str

    Returns
    -------
    Dataset
    """
    recipe = entry.recipe
    if recipe.complete_only:
        table = _complete_rows(table)
    target = _target_place(table, recipe)
    aside = {target, *recipe.leave_out} | ({recipe.groups} if recipe.groups is not None else set())
    places = [j for j in range(len(table.columns)) if j not in aside]
    X = np.column_stack([_numbers(table, j, recipe) for j in places])
    names = recipe.feature_names or tuple(table.names[j] for j in places)
    if recipe.varying_only:
        varying = X.min(axis=0) < X.max(axis=0)
        X, names = X[:, varying], tuple(n for n, v in zip(names, varying, strict=True) if v)
    if len(names) != X.shape[1]:
        raise ValueError(f"it has {X.shape[1]} features, and {len(names)} are expected")
    y = _target(table, target, entry)
    return Dataset(
        name,
        X=_standard(X) if "X" in recipe.standardise else np.ascontiguousarray(X),
        y=_standard(y) if "y" in recipe.standardise else y,
        task=entry.task,
        feature_names=names,
        class_names=_class_names(entry),
        groups=_groups(table, recipe),
        source=source,
    )


def _class_names(entry: Entry) -> tuple[str, ...] | None:
    if not entry.counts:
        return None
    return entry.class_names or tuple(str(i + entry.first_label) for i in range(len(entry.counts)))


def _complete_rows(table: RawTable) -> RawTable:
    complete = np.ones(len(table.columns[0]), dtype=bool)
    for column in table.columns:
        complete &= np.isfinite(column) if column.dtype.kind == "f" else column != "?"
    columns = [as_numbers(column[complete]) for column in table.columns]
    return RawTable(table.names, columns, table.categories)


def _target_place(table: RawTable, recipe: Recipe) -> int:
    if isinstance(recipe.target, int):
        return recipe.target % len(table.columns)
    names = [name.lower() for name in table.names]
    if recipe.target.lower() not in names:
        raise ValueError(f"it has no column {recipe.target}")
    return names.index(recipe.target.lower())


def _numbers(table: RawTable, place: int, recipe: Recipe) -> HostArray:
    """A column as numbers: words become 1, 2 and so on in the order of the catalogue or of the source."""
    column = table.columns[place]
    if column.dtype.kind != "f" and recipe.prefix and np.char.startswith(column, recipe.prefix).all():
        column = np.char.lstrip(column, recipe.prefix).astype(np.float64)
    if column.dtype.kind != "f":
        words = recipe.codes.get(place) or table.categories.get(place, ())
        numbers = {word: float(i) for i, word in enumerate(words, 1)}
        unknown = sorted(set(column.tolist()) - set(numbers))
        if unknown:
            raise ValueError(f"column {place + 1} holds {unknown[0]!r}, which is no number and no known word")
        column = np.array([numbers[word] for word in column.tolist()])
    if not np.isfinite(column).all():
        raise ValueError(f"column {place + 1} has values that are missing or infinite")
    return column


def _target(table: RawTable, place: int, entry: Entry) -> HostArray:
    column = table.columns[place]
    if not entry.counts:
        return _numbers(table, place, entry.recipe)
    # Numbers may be written as "1." or as "1".
    words = column.astype(np.int64).astype(str) if column.dtype.kind == "f" else np.char.lower(column)
    number = {word: i for i, label in enumerate(entry.recipe.labels, entry.first_label) for word in label}
    unknown = sorted(set(words.tolist()) - set(number))
    if unknown:
        raise ValueError(f"{unknown[0]!r} is none of its classes")
    return np.array([number[word] for word in words.tolist()], dtype=np.int64)


def _groups(table: RawTable, recipe: Recipe) -> HostArray | None:
    if recipe.blocks:
        return np.repeat(np.arange(1, len(recipe.blocks) + 1), recipe.blocks).astype(np.int64)
    if recipe.groups is None:
        return None
    column = table.columns[recipe.groups]
    if column.dtype.kind == "f":
        return column.astype(np.int64)
    number: dict[str, int] = {}
    return np.array([number.setdefault(word, len(number)) for word in column.tolist()], dtype=np.int64)


def _standard(values: HostArray) -> HostArray:
    standard: HostArray = (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)
    return standard
