"""Weights of rows: given for each, or by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils._param_validation import StrOptions

from l1lsmi._arrays import HostArray, is_non_numpy, to_numpy

#: Weights below this share of the largest one are lost in rounding errors of sums: they count as 0.
NEGLIGIBLE = 1e-15
#: What says how classes are weighted.
CLASS_WEIGHTS: list[Any] = [dict, StrOptions({"balanced"}), None]


def check_sample_weight(sample_weight: Any, n_rows: int) -> HostArray | None:
    """Check weights of rows; None stays None, and one number is the weight of every row."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked values: pass one number per row.")
    try:
        given = to_numpy(sample_weight) if is_non_numpy(sample_weight) else np.asarray(sample_weight)
        if np.iscomplexobj(given):
            raise TypeError
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight is a {type(sample_weight).__name__} that cannot be read as numbers: pass one "
            "number per row."
        ) from None
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_rows} rows: pass one number per row."
        )
    if not np.isfinite(weights).all():
        row = int(np.flatnonzero(~np.isfinite(weights))[0])
        what = "NaN" if np.isnan(weights[row]) else "infinity"
        raise ValueError(f"sample_weight contains {what}, first in row {row}: pass numbers of at least 0.")
    if (weights < 0).any():
        row = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(
            f"sample_weight is negative, first {float(weights[row])!r} in row {row}: pass numbers of at "
            "least 0."
        )
    if not weights.any():
        raise ValueError("sample_weight is zero in every row: give at least 2 rows a positive weight.")
    weights[weights < NEGLIGIBLE * weights.max()] = 0.0
    return weights


def check_enough_rows(n_rows: int) -> None:
    """Check that at least two rows have a weight."""
    if n_rows < 2:
        raise ValueError(
            f"sample_weight leaves n_samples={n_rows}, but at least 2 rows are required: give more "
            f"rows a positive weight, at least {NEGLIGIBLE:g} times the largest weight."
        )


def class_factors(
    class_weight: Any, y: HostArray, weights: HostArray | None, numeric: bool
) -> HostArray | None:
    """Weight of the class of every row; None where classes are not weighted.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        "balanced" gives all classes the same sum of weights.
    y : numpy.ndarray of shape (n,)
        Labels.
    weights : numpy.ndarray of float, shape (n,) or None
        Of the rows.
    numeric : bool
        Whether y is a numeric target.
    """
    if class_weight is None:
        return None
    if numeric:
        raise ValueError(
            f"class_weight={class_weight!r} is given, but y is numeric and has no classes: leave it out and "
            "pass sample_weight to fit, or task='classification'."
        )
    labels, codes = np.unique(y, return_inverse=True)
    codes = codes.ravel()
    if isinstance(class_weight, str):
        counts = np.bincount(codes, weights)
        present = counts > 0
        return np.asarray((counts.sum() / (present.sum() * np.where(present, counts, 1.0)))[codes])
    return np.asarray(_of_labels(class_weight, labels)[codes])


def _of_labels(class_weight: Mapping[Any, Any], labels: HostArray) -> HostArray:
    known = labels.tolist()
    unknown = [label for label in class_weight if label not in known]
    if unknown:
        raise ValueError(
            f"class_weight has the class {unknown[0]!r}, which is not in y: the classes of y are "
            f"{', '.join(map(repr, known[:5]))}{' ...' if len(known) > 5 else ''}."
        )
    try:
        found = np.array([float(class_weight.get(label, 1.0)) for label in known])
    except (TypeError, ValueError):
        found = np.array([np.nan])
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise ValueError(
            f"class_weight={dict(class_weight)!r} has weights that are not positive numbers: pass a positive "
            "number for each class."
        )
    return found
