"""Explain a selection: its search path, the contribution of each feature, and why others are not selected."""

from l1lsmi.explain.contributions import Contributions, Dispensable, contributions
from l1lsmi.explain.data_warnings import data_warnings
from l1lsmi.explain.explanation import Explanation, explain_selection
from l1lsmi.explain.interactions import Interactions, interactions
from l1lsmi.explain.pair_terms import PairTerms, pair_terms
from l1lsmi.explain.path import PathStep, PathTable, path_table
from l1lsmi.explain.redundancy import Redundancy, Rejected, redundancy
from l1lsmi.explain.sample import sample_rows
from l1lsmi.explain.score_by_size import ScoreBySize, score_by_size

__all__ = [
    "path_table",
    "score_by_size",
    "contributions",
    "redundancy",
    "interactions",
    "pair_terms",
    "explain_selection",
    "sample_rows",
    "data_warnings",
    "PathTable",
    "PathStep",
    "ScoreBySize",
    "Contributions",
    "Dispensable",
    "Redundancy",
    "Rejected",
    "Interactions",
    "PairTerms",
    "Explanation",
]
