"""Supervised feature selection that sees interactions, redundancy and non-linear dependence."""

from l1lsmi.selectors import L1LSMI

__all__ = ["L1LSMI", "__version__"]
__version__ = "0.1.0"
