"""The scikit-learn estimators: validate, search, store what was learned.

`FeatureSelector` takes any measure and any strategy that fit together. These combinations have names of
their own:

- `L1Path` or `L1Paper` x `SquaredMutualInformation`: l1-LSMI (`L1LSMI`);
- `L1Path` or `L1Paper` x `HSIC`: l1-HSIC (`L1HSIC`);
- `Ranking` x `Pearson`: correlation ranking (PC);
- `Forward` or `Backward` x `HSIC` or `SquaredMutualInformation`: F-HSIC, B-HSIC, F-LSMI, B-LSMI.
"""

from l1lsmi.selectors.feature_selector import FeatureSelector
from l1lsmi.selectors.l1_hsic import L1HSIC
from l1lsmi.selectors.l1_lsmi import L1LSMI

__all__ = ["FeatureSelector", "L1HSIC", "L1LSMI"]
