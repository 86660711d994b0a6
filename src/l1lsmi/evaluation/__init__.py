"""Evaluation of selected features, and comparison of selectors."""

from l1lsmi.evaluation._metrics import Estimate
from l1lsmi.evaluation.comparison import (
    Comparison,
    CriticalDifference,
    compare_methods,
    critical_difference,
    top_counts,
)
from l1lsmi.evaluation.protocols import SVMError, held_out_error, svm_error
from l1lsmi.evaluation.scores import f_measure, redundancy_rate
from l1lsmi.evaluation.selection_scores import SelectionScores, SetScores, selection_scores
from l1lsmi.evaluation.selectors import Compared, SelectorComparison, compare_selectors
from l1lsmi.evaluation.splits import split_rows

__all__ = [
    "f_measure",
    "redundancy_rate",
    "svm_error",
    "held_out_error",
    "split_rows",
    "selection_scores",
    "SelectionScores",
    "SetScores",
    "Estimate",
    "SVMError",
    "compare_selectors",
    "SelectorComparison",
    "Compared",
    "compare_methods",
    "Comparison",
    "top_counts",
    "critical_difference",
    "CriticalDifference",
]
