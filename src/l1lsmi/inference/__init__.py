"""How far a selection can be trusted: stability, false discoveries, and tests of dependence."""

from l1lsmi.inference.bounds import FalseSelectionsBound, false_selections_bound
from l1lsmi.inference.stability import StabilitySelector

__all__ = ["FalseSelectionsBound", "StabilitySelector", "false_selections_bound"]
