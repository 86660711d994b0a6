"""How strongly a fitted selector favours each column: the importances that knockoffs are compared by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._validation.parameters import check_share
from l1lsmi._validation.target import target_rows
from l1lsmi.inference._fits import beside_rows, fitted, seeded, support_of
from l1lsmi.inference._halves import draw_halves

#: Numbers of features at which a selector is fitted, as shares of the largest.
SIZES = (0.25, 0.5, 0.75, 1.0)
#: Pairs of halves of the rows for frequencies.
N_PAIRS = 10
#: Weight of what decides between columns that are selected at the same sizes.
TIE_WEIGHT = 1e-3
STATISTICS = ("auto", "scores", "sizes", "frequency")

Statistic = str | Callable[[Any], Any]


def importances(
    selector: Any,
    statistic: Statistic,
    x: HostArray,
    y: HostArray,
    codes: HostArray,
    rng: np.random.Generator,
    beside: Mapping[str, Any],
) -> HostArray:
    """Importance of every column of ``x``, which are features and as many knockoffs.

    Parameters
    ----------
    selector : estimator
    statistic : str or callable
    x : numpy.ndarray of shape (n, 2 m)
    y : numpy.ndarray of shape (n,)
    codes : numpy.ndarray of int, shape (n,)
        Classes, by which halves of the rows are stratified.
    rng : numpy.random.Generator
    beside : mapping of str to array
        What the fit of the selector is given beside X and y, of every row.

    Returns
    -------
    numpy.ndarray of shape (2 m,)
    """
    n_columns = x.shape[1]
    if statistic == "frequency":
        return _frequencies(selector, x, y, codes, rng, beside)
    k = _largest_size(selector, n_columns) if statistic in ("auto", "sizes") else None
    if statistic == "sizes":
        if k is None:
            raise ValueError(
                "statistic='sizes' needs a selector with n_features_to_select, which "
                f"{type(selector).__name__} does not have: pass 'scores', 'frequency' or a function of the "
                "fitted selector."
            )
        return _by_sizes(selector, k, x, y, rng, beside)
    once = fitted(_sized(selector, k, rng), x, y, beside)
    if callable(statistic):
        return _checked(statistic(once), n_columns, "statistic")
    if k is not None and hasattr(once, "weights_"):
        return _by_sizes(selector, k, x, y, rng, beside, once)
    if k is not None and not isinstance(selector.get_params()["n_features_to_select"], Real):
        # Scores of all columns are best at the number of features that the selector takes by itself.
        once = fitted(_sized(selector, None, rng), x, y, beside)
    return _exposed(once, n_columns)


def _largest_size(selector: Any, n_columns: int) -> int | None:
    """Number of columns to select, where a selector has one; a quarter of all columns by default."""
    parameters = selector.get_params(deep=False)
    if "n_features_to_select" not in parameters:
        return None
    given = parameters["n_features_to_select"]
    if given is None or isinstance(given, str):
        return max(1, n_columns // 4)
    return check_share("n_features_to_select", given, n_columns)


def _sized(selector: Any, k: int | None, rng: np.random.Generator) -> Any:
    parameters = {} if k is None else {"n_features_to_select": k}
    return seeded(selector, int(rng.integers(2**31 - 1)), **parameters)


def _by_sizes(
    selector: Any,
    k: int,
    x: HostArray,
    y: HostArray,
    rng: np.random.Generator,
    beside: Mapping[str, Any],
    largest: Any = None,
) -> HostArray:
    """Number of sizes at which each column is selected; weights decide between equal ones.

    Weights alone do not do: the weight of a column that a selector has to take, to have k of them, need not
    be small.
    """
    sizes = sorted({int(np.ceil(share * k)) for share in SIZES}, reverse=True)
    total = np.zeros(x.shape[1])
    for size in sizes:
        if size == k and largest is not None:
            once = largest
        else:
            once = fitted(_sized(selector, size, rng), x, y, beside)
        total += support_of(once, x.shape[1])
        of_features = getattr(once, "weights_", None)
        if of_features is not None and np.max(of_features) > 0:
            total += TIE_WEIGHT * np.asarray(of_features) / np.max(of_features)
    return total


def _frequencies(
    selector: Any,
    x: HostArray,
    y: HostArray,
    codes: HostArray,
    rng: np.random.Generator,
    beside: Mapping[str, Any],
) -> HostArray:
    """Number of half-samples from which each column is selected."""
    total = np.zeros(x.shape[1])
    for _ in range(N_PAIRS):
        for rows in draw_halves(codes, None, rng):
            some = beside_rows(beside, rows)
            once = fitted(_sized(selector, None, rng), x[rows], target_rows(y, rows), some)
            total += support_of(once, x.shape[1])
    return total


def _exposed(selector: Any, n_columns: int) -> HostArray:
    """Weights, scores, importances or coefficients of a fitted selector, in this order."""
    for name in ("weights_", "scores_"):
        if hasattr(selector, name):
            return _checked(getattr(selector, name), n_columns, name)
    for model in (getattr(selector, "estimator_", None), selector):
        for name in ("feature_importances_", "coef_"):
            if model is None or not hasattr(model, name):
                continue
            values = np.abs(np.asarray(getattr(model, name), dtype=np.float64))
            if values.ndim == 2:
                # Of several targets or classes, in rows.
                values = np.asarray(np.sqrt((values**2).sum(axis=0)))
            if values.shape != (n_columns,) and hasattr(selector, "get_support"):
                support = support_of(selector, n_columns)
                if values.shape == (int(support.sum()),):
                    # The model knows the selected columns only.
                    everywhere = np.zeros(n_columns)
                    everywhere[support] = values
                    values = everywhere
            return _checked(values, n_columns, name)
    raise ValueError(
        f"selector is a {type(selector).__name__}, which has no weights_, scores_, feature_importances_ or "
        "coef_, and no estimator_ with feature_importances_ or coef_: pass statistic='frequency', or a "
        "function of the fitted selector that returns one number per column."
    )


def _checked(values: Any, n_columns: int, name: str) -> HostArray:
    """One finite number per column; what is not finite is below all others."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.shape != (n_columns,):
        raise ValueError(
            f"{name} has shape {numbers.shape}, but there are {n_columns} columns (features and "
            "knockoffs): one number per column is needed."
        )
    finite = np.isfinite(numbers)
    lowest = float(numbers[finite].min()) if finite.any() else 0.0
    return np.where(finite, numbers, lowest)
