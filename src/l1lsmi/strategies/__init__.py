"""Strategies: ways of searching for the set of features with the highest score.

A strategy is given a measure bound to data and declares what it needs of it (`protocols`); it knows no
measure.
"""

from l1lsmi.strategies._base import Advance, SearchState, Strategy
from l1lsmi.strategies.backward import Backward
from l1lsmi.strategies.exhaustive import Exhaustive
from l1lsmi.strategies.forward import Forward
from l1lsmi.strategies.l1_paper import L1Paper
from l1lsmi.strategies.l1_path import L1Path
from l1lsmi.strategies.ranking import Ranking
from l1lsmi.strategies.selection import RankedSelection, Selection, Step, WeightedSelection

__all__ = [
    "Ranking",
    "Forward",
    "Backward",
    "Exhaustive",
    "L1Path",
    "L1Paper",
    "Selection",
    "RankedSelection",
    "WeightedSelection",
    "Step",
    "Strategy",
    "SearchState",
    "Advance",
]
