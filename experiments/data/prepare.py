"""From a published table to the X and y of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import zscore

from experiments.data.dataset import Dataset
from experiments.data.recipe import Recipe

if TYPE_CHECKING:
    from experiments.real import Real


def prepare(table: pd.DataFrame, real: Real, source: str) -> Dataset:
    """Select the columns of a published table, encode words as numbers, and standardise."""
    recipe = real.recipe
    if recipe.drop_missing:
        table = table.dropna()
    target = _target_position(table, recipe)
    not_features = {target, recipe.group_column, *recipe.drop}
    features = [j for j in range(table.shape[1]) if j not in not_features]
    X = np.column_stack([_numbers(table, j, recipe) for j in features])
    names = recipe.feature_names or tuple(map(str, table.columns[features]))
    if recipe.drop_constant:
        varying = np.ptp(X, axis=0) > 0
        X, names = X[:, varying], tuple(np.array(names)[varying].tolist())
    if len(names) != X.shape[1]:
        raise ValueError(f"it has {X.shape[1]} features, but {len(names)} are expected")
    y = _labels(table, target, real) if real.class_counts else _numbers(table, target, recipe)
    return Dataset(
        real.name,
        X=zscore(X, ddof=1) if "X" in recipe.standardise else X,
        y=zscore(y, ddof=1) if "y" in recipe.standardise else y,
        task=real.task,
        feature_names=names,
        class_names=_class_names(real),
        groups=_groups(table, recipe),
        source=source,
    )


def _class_names(real: Real) -> tuple[str, ...] | None:
    if not real.class_counts:
        return None
    return real.class_names or tuple(str(i + real.first_label) for i in range(real.n_classes))


def _target_position(table: pd.DataFrame, recipe: Recipe) -> int:
    if isinstance(recipe.target, int):
        return recipe.target % table.shape[1]
    names = [str(name).lower() for name in table.columns]
    if recipe.target.lower() not in names:
        raise ValueError(f"it has no column {recipe.target}")
    return names.index(recipe.target.lower())


def _numbers(table: pd.DataFrame, position: int, recipe: Recipe) -> np.ndarray:
    """A column as floats; words that are not numbers become 1, 2 and so on in the order of the source."""
    column = table.iloc[:, position]
    if not pd.api.types.is_numeric_dtype(column):
        column = _encoded(column, position, recipe)
    values = column.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError(f"column {position + 1} has missing or infinite values")
    return values


def _encoded(column: pd.Series, position: int, recipe: Recipe) -> pd.Series:
    words = column.dropna().astype(str).str.removeprefix(recipe.code_prefix)
    numbers = pd.to_numeric(words, errors="coerce")
    codes = recipe.codes.get(position) or tuple(getattr(column.dtype, "categories", ()))
    if codes and numbers.isna().any():
        numbers = words.map({word: float(i) for i, word in enumerate(codes, 1)})
    if numbers.isna().any():
        word = words[numbers.isna()].iloc[0]
        raise ValueError(f"column {position + 1} contains {word!r}, which is neither a number nor a code")
    return numbers.reindex(column.index)


def _labels(table: pd.DataFrame, target: int, real: Real) -> np.ndarray:
    column = table.iloc[:, target]
    if pd.api.types.is_numeric_dtype(column):
        column = column.astype(np.int64)  # labels may be written as "1."
    words = column.astype(str).str.lower()
    code = {
        word: i
        for i, label in enumerate(real.recipe.labels, real.first_label)
        for word in ([label] if isinstance(label, str) else label)
    }
    if not set(words) <= set(code):
        raise ValueError(f"{min(set(words) - set(code))!r} is not one of its classes")
    return words.map(code).to_numpy(dtype=np.int64)


def _groups(table: pd.DataFrame, recipe: Recipe) -> np.ndarray | None:
    if recipe.group_sizes:
        return np.repeat(np.arange(1, len(recipe.group_sizes) + 1), recipe.group_sizes).astype(np.int64)
    if recipe.group_column is None:
        return None
    column = table.iloc[:, recipe.group_column]
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.int64)
    return pd.factorize(column)[0].astype(np.int64)
