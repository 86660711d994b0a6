"""Categories of dask dataframes whose rows are on the workers of a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._validation.columns import MAX_LEVELS


def known_levels(X: Any, categorical: Any) -> dict[int, list[Any]]:
    """Levels of the columns of a dask array or dataframe that are categories, by their types."""
    if categorical is not None and not isinstance(categorical, str):
        raise ValueError(
            "categorical_features is given, but the rows of X are on a cluster: give these columns a "
            "categorical type, and do not pass categorical_features."
        )
    found: dict[int, list[Any]] = {}
    if not hasattr(X, "columns"):
        return found
    for j, (name, kind) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        if getattr(kind, "kind", "O") in "fiub" and not hasattr(kind, "categories"):
            continue
        if not hasattr(kind, "categories") or not X[name].cat.known:
            raise ValueError(
                f"X has column {str(name)!r} of type {kind}: leave it out, turn it into numbers, or turn it "
                "into a category with known levels by X.categorize()."
            )
        if not kind.ordered:
            found[j] = list(kind.categories)
            if len(found[j]) > MAX_LEVELS:
                raise ValueError(
                    f"X has {len(found[j])} levels in column {str(name)!r}, more than the {MAX_LEVELS} that "
                    "categories on a cluster can have: leave the column out, or merge levels."
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
) -> tuple[dict[int, tuple[list[Any], HostArray]], tuple[HostArray, HostArray]]:
    """Levels that rows have and their counts, most frequent first; the columns, and numbers of old levels.

    Ordered categories, which have no levels here, are numbers and stay as they are.
    """
    columns = np.array([j for j, levels in known.items() if levels], dtype=np.intp)
    numbers = np.zeros((columns.size, max((len(known[j]) for j in columns), default=1)))
    categories = {}
    for i, j in enumerate(columns.tolist()):
        total = np.sum([some[j] for some in counts], axis=0)
        order = np.argsort(-total, kind="stable")
        order = order[total[order] > 0]
        numbers[i, order] = np.arange(order.size)
        categories[j] = [known[j][code] for code in order], total[order]
    return categories, (columns, numbers)
