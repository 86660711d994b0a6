"""Strategies: ways of searching for the set of features that a measure likes best.

A strategy is handed a measure bound to data and says what it needs of it; it knows no measure.
"""

from l1lsmi.strategies._base import Strategy
from l1lsmi.strategies.backward import Backward
from l1lsmi.strategies.exhaustive import Exhaustive
from l1lsmi.strategies.forward import Forward
from l1lsmi.strategies.l1_weighting import L1Weighting
from l1lsmi.strategies.ranking import RankedSelection, Ranking
from l1lsmi.strategies.selection import Selection, Step, WeightedSelection

__all__ = [
    "Ranking",
    "Forward",
    "Backward",
    "Exhaustive",
    "L1Weighting",
    "Selection",
    "RankedSelection",
    "WeightedSelection",
    "Step",
    "Strategy",
]
