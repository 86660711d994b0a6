"""Strategies: ways of searching for the set of features that a measure likes best.

A strategy is handed a measure bound to data and says what it needs of it; it knows no measure.
"""

from l1lsmi.strategies.l1_weighting import L1Weighting
from l1lsmi.strategies.selection import Selection, WeightedSelection

__all__ = ["L1Weighting", "Selection", "WeightedSelection"]
