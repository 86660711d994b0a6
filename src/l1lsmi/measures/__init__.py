"""Measures of how strongly a target depends on a set of features.

A measure is bound to data by ``bind``; strategies declare what they need of the bound problem.
"""

from l1lsmi._numerics.fixed_model import FixedModelDraws
from l1lsmi.measures._base import Measure, MeasureProblem, WeightableProblem
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
    "WeightableProblem",
    "FixedModelDraws",
]
