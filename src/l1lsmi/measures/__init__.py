"""Measures of how much a set of features says about a target.

A measure is bound to data by ``bind``; strategies ask what they need of the bound problem.
"""

from l1lsmi.measures.squared_mutual_information import (
    SquaredMutualInformation,
    SquaredMutualInformationEstimate,
)

__all__ = ["SquaredMutualInformation", "SquaredMutualInformationEstimate"]
