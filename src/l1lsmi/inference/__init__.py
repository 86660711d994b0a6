"""How far a selection can be trusted: stability, false discoveries, and tests of dependence."""

from l1lsmi.inference.bounds import FalseSelectionsBound, false_selections_bound
from l1lsmi.inference.knockoffs import KnockoffSelector
from l1lsmi.inference.permutation import PermutationTest, permutation_test
from l1lsmi.inference.stability import StabilitySelector

__all__ = [
    "FalseSelectionsBound",
    "KnockoffSelector",
    "PermutationTest",
    "StabilitySelector",
    "false_selections_bound",
    "permutation_test",
]
