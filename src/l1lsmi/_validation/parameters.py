"""Parameters of measures, strategies and selectors."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

#: Values of the parameter of selectors that take categories.
CATEGORICAL: list[Any] = ["array-like", StrOptions({"from_dtype"}), None]

#: Columns that a search in a large sparse table may choose from: with so many values all together, but at
#: least and at most so many.
POOL_VALUES = 2**25
SPARSE_POOLS = (300, 1_000)


class CheckedParameters(BaseEstimator):
    """Base of estimators whose parameters are checked: True and False are not numbers."""

    def _validate_params(self) -> None:
        super()._validate_params()
        for name, rules in getattr(self, "_parameter_constraints", {}).items():
            value = getattr(self, name, None)
            is_number = isinstance(rules, list) and any(isinstance(rule, Interval) for rule in rules)
            if isinstance(value, (bool, np.bool_)) and is_number and "boolean" not in rules:
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number, neither True nor "
                    f"False. Got {value!r} instead."
                )


def check_pool_of_sparse(pool: Any, k: int | None, table: Any) -> int:
    """The number of columns that a search may choose from in a sparse table too large to search all."""
    what = (
        f"X is sparse with {table.n_rows:,} rows and {table.n_columns:,} columns, too many to search all "
        "columns"
    )
    if pool is None:
        raise ValueError(f'pool=None, but {what}: pass pool="auto" or a number of columns.')
    if isinstance(pool, Integral):
        return int(pool)
    usual = int(np.clip(POOL_VALUES // table.n_rows, *SPARSE_POOLS))
    if k is not None and k > SPARSE_POOLS[1]:
        raise ValueError(
            f"{k:,} features are to be selected, but {what}: pass n_features_to_select of at most "
            f"{SPARSE_POOLS[1]:,}, or pool, the number of columns that the search may choose from."
        )
    return usual if k is None else max(usual, min(2 * k, table.varying.size))


def check_all_positive(owner: object, name: str) -> None:
    """Check that a parameter is a sequence of positive numbers of sensible size."""
    value = getattr(owner, name)
    try:
        numbers = np.asarray([np.nan if isinstance(v, str) else float(v) for v in value])
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.size == 0 or not ((numbers >= 1e-12) & (numbers <= 1e12)).all():
        raise ValueError(
            f"The {name!r} parameter of {type(owner).__name__} must be a sequence of positive numbers "
            f"between 1e-12 and 1e12. Got {value!r} instead."
        )


def check_numbers_only(categorical: Any, where: str) -> None:
    """Refuse categories where features must be numbers."""
    if categorical is not None and not isinstance(categorical, str):
        raise ValueError(
            f'categorical_features is given, but {where} needs numeric features: leave it at "from_dtype".'
        )


def check_count(name: str, value: Any, n_features: int) -> int:
    """Check a number of features."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not 1 <= int(value) <= n_features:
        raise ValueError(
            f"{name}={value!r} must be a whole number between 1 and the number of features: X has "
            f"{n_features} feature(s)."
        )
    return int(value)


def check_prefix(k: Any, sizes: Any) -> int:
    """How many leading features of an order make the allowed set of ``k``: -1 in ``sizes`` marks none."""
    least = int(np.argmax(sizes >= 0))
    if isinstance(k, bool) or not isinstance(k, Integral) or not least <= int(k) < len(sizes):
        raise ValueError(
            f"k={k!r} must be a whole number between {least} and {len(sizes) - 1}, the numbers of features "
            "(or groups) that the constraints allow."
        )
    return int(sizes[int(k)])


def check_share(name: str, value: Any, n_features: int) -> int:
    """The number of features that an int, a share of them or None (half) asks for."""
    if value is None:
        return max(1, n_features // 2)
    if isinstance(value, Integral):
        return check_count(name, value, n_features)
    return max(1, int(n_features * value + 1e-9))


def check_measure(measure: Any) -> None:
    """Check that what a strategy is handed is a measure, and that its parameters are in order."""
    if isinstance(measure, type) or not (hasattr(measure, "bind") and hasattr(measure, "task")):
        what = f"the class {measure.__name__}" if isinstance(measure, type) else repr(measure)
        raise ValueError(f"measure is {what}: pass an instance of a measure, such as HSIC().")
    measure._validate_params()


def check_needs(strategy: Any, measure: Any, missing: list[str]) -> None:
    """Refuse a measure that, bound to data, lacks something that a strategy needs."""
    if missing:
        raise ValueError(
            f"{type(strategy).__name__} needs {' and '.join(missing)} of its measure, which "
            f"{type(measure).__name__} does not have: {measure.limits}."
        )


def check_members(strategy: Any, source: str, thing: object, missing: list[str]) -> None:
    """Refuse what a method of a bound measure returns, if it lacks something that a strategy needs."""
    if missing:
        raise ValueError(
            f"{source} of the measure returns a {type(thing).__name__} without {' and '.join(missing)}, "
            f"which {type(strategy).__name__} needs: add what is missing, or use another strategy."
        )


def check_subsets(n_features: int, size: int, n_subsets: int, max_subsets: int | None) -> None:
    """Refuse to go through too many sets."""
    if max_subsets is not None and n_subsets > max_subsets:
        raise ValueError(
            f"There are {n_subsets} sets of {size} out of {n_features} features, more than "
            f"max_subsets={max_subsets}: select fewer features, raise max_subsets (None sets no "
            "limit), or use another strategy such as L1Path."
        )


def check_allowed_sets(n_sets: int, max_subsets: int | None) -> None:
    """Refuse to go through too many sets that constraints allow."""
    if max_subsets is not None and n_sets > max_subsets:
        raise ValueError(
            f"The constraints allow more than max_subsets={max_subsets} sets: select fewer features, raise "
            "max_subsets (None sets no limit), or use another strategy such as L1Path."
        )


def check_scores_sets(problem: Any) -> None:
    """Refuse covariates with a measure that looks at one column at a time."""
    if not hasattr(problem, "score_set"):
        raise ValueError(
            f"covariates are given, but {type(problem).__name__.removesuffix('Problem')} scores one "
            "feature at a time and cannot take them into account: use a measure of sets, such as HSIC."
        )


def for_other_rows(selector: Any) -> Any:
    """A copy of a selector to be fitted to other rows: without a checkpoint, and without callbacks."""
    copy = clone(selector)
    given = copy.get_params()
    for name in given:
        owner, _, last = name.rpartition("__")
        part = given[owner] if owner else copy
        # Selectors of others may mean something else by these words.
        if last in ("checkpoint", "callbacks") and type(part).__module__.startswith("l1lsmi."):
            part.set_params(**{last: None})
            if hasattr(part, "set_callbacks"):
                part.set_callbacks()
    return copy


def seed_of(random_state: Any) -> int:
    """One seed from whatever scikit-learn takes for a random state."""
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r} cannot be used: pass a whole number from 0 to 2**32 - 1, a "
            "RandomState instance or None."
        ) from None


def check_seconds(name: str, seconds: Any) -> float | None:
    """A time limit: a positive number of seconds, or None."""
    if seconds is None:
        return None
    is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not is_number or not seconds > 0:
        raise ValueError(f"{name}={seconds!r} must be a positive number of seconds, or None.")
    return float(seconds)
