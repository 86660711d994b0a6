"""Supervised feature selection that sees interactions, redundancy and non-linear dependence."""

from l1lsmi.selectors import L1HSIC, L1LSMI, FeatureSelector

__all__ = ["L1LSMI", "L1HSIC", "FeatureSelector", "__version__"]
__version__ = "0.1.0"
