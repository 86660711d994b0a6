"""Categories of dask dataframes whose rows are on the workers of a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._rows.distinct import row_hashes
from l1lsmi._rows.levels import LevelTotals
from l1lsmi._rows.levels import renumbered as with_numbers
from l1lsmi._validation.columns import MAX_LEVELS


def known_levels(X: Any, categorical: Any) -> dict[int, list[Any]]:
    """Levels of the columns of a dask array or dataframe that are categories, by their types."""
    if categorical is not None and not isinstance(categorical, str):
        raise ValueError(
            "categorical_features is given, but the rows of X are on a cluster: give these columns a "
            "categorical type, and leave it out."
        )
    found: dict[int, list[Any]] = {}
    if not hasattr(X, "columns"):
        return found
    for j, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if getattr(kind, "kind", "O") in "fiub" and not hasattr(kind, "categories"):
            continue
        if not hasattr(kind, "categories") or not X[name].cat.known:
            raise ValueError(
                f"X has column {str(name)!r} of type {kind}: turn it into numbers or leave it out, or into a "
                "category with known levels by X.categorize()."
            )
        if not kind.ordered:
            found[j] = list(kind.categories)
            if len(found[j]) > MAX_LEVELS:
                raise ValueError(
                    f"X has {len(found[j])} levels in column {str(name)!r}, more than the {MAX_LEVELS} that "
                    "categories on a cluster can have: leave it out, or merge levels."
                )
        else:
            found[j] = []
    return found


def coded_chunk(chunk: Any, known: dict[int, list[Any]]) -> HostArray:
    """A chunk as numbers: levels by their place in the type, missing values as NaN."""
    columns = []
    for j, name in enumerate(chunk.columns):
        values = chunk[name].cat.codes if j in known else chunk[name]
        numbers = np.array(values, dtype=np.float64)
        columns.append(np.where(numbers < 0, np.nan, numbers) if j in known else numbers)
    return np.column_stack(columns)


def level_counts(block: HostArray, known: dict[int, list[Any]]) -> dict[int, HostArray]:
    """How many rows of a block have each level."""
    found = {}
    for j, levels in known.items():
        present = block[~np.isnan(block[:, j]), j].astype(np.intp)
        found[j] = np.bincount(present, minlength=len(levels)).astype(np.float64)
    return found


def by_frequency(
    known: dict[int, list[Any]], counts: list[dict[int, HostArray]]
) -> tuple[dict[int, tuple[list[Any], HostArray]], dict[int, HostArray]]:
    """Levels that rows have and their counts, most frequent first, and the new number of each old one.

    Ordered categories, which have no levels here, are numbers and stay as they are.
    """
    categories, numbers = {}, {}
    for j, levels in known.items():
        if not levels:
            continue
        total = np.sum([some[j] for some in counts], axis=0)
        order = np.argsort(-total, kind="stable")
        order = order[total[order] > 0]
        numbers[j] = np.zeros(total.size)
        numbers[j][order] = np.arange(order.size)
        categories[j] = [levels[code] for code in order], total[order]
    return categories, numbers


def renumbered(block: HostArray, numbers: dict[int, HostArray]) -> HostArray:
    """A block with other numbers of levels."""
    block = np.array(block, dtype=np.float64)
    for j, number_of in numbers.items():
        present = ~np.isnan(block[:, j])
        block[present, j] = number_of[block[present, j].astype(np.intp)]
    return block


def level_totals(
    block: HostArray, columns: HostArray, n_levels: HostArray, row_weights: HostArray | None
) -> LevelTotals:
    """Weights of the levels of the categories of a block."""
    return LevelTotals.of(block[:, columns], n_levels, row_weights)


def hashes_of(block: HostArray, columns: HostArray, numbers: HostArray) -> HostArray:
    """Hashes of the rows of a block, with other numbers of levels."""
    return row_hashes(with_numbers(block, columns, numbers))
