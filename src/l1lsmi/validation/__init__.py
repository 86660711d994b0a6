"""Everything that is refused, in one place: one sentence that says what, and what to do."""

from l1lsmi.validation.features import (
    check_all_rows,
    check_device,
    check_features,
    check_finite,
    check_pairs,
    check_target_of,
    check_varying,
    check_visits_rows,
    check_xy,
    tell_features,
)
from l1lsmi.validation.folds import check_folds
from l1lsmi.validation.parameters import (
    check_all_positive,
    check_count,
    check_measure,
    check_needs,
    check_share,
    check_subsets,
    seed_of,
)
from l1lsmi.validation.target import TASKS, check_target

__all__ = [
    "TASKS",
    "check_all_positive",
    "check_all_rows",
    "check_count",
    "check_device",
    "check_features",
    "check_finite",
    "check_folds",
    "check_measure",
    "check_needs",
    "check_pairs",
    "check_share",
    "check_subsets",
    "check_target",
    "check_target_of",
    "check_varying",
    "check_visits_rows",
    "check_xy",
    "seed_of",
    "tell_features",
]
