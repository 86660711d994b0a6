"""Measures of how much a set of features says about a target.

A measure is bound to data by ``bind``; strategies ask what they need of the bound problem.
"""

from l1lsmi.measures._base import Measure, MeasureProblem
from l1lsmi.measures._density_ratio import DensityRatioEstimate
from l1lsmi.measures.hsic import HSIC
from l1lsmi.measures.mutual_information import MutualInformation
from l1lsmi.measures.pearson import Pearson
from l1lsmi.measures.squared_mutual_information import SquaredMutualInformation

__all__ = [
    "Pearson",
    "HSIC",
    "MutualInformation",
    "SquaredMutualInformation",
    "DensityRatioEstimate",
    "Measure",
    "MeasureProblem",
]
