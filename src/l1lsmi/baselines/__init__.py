"""The methods that the paper compares with, each as a scikit-learn selector."""

from l1lsmi.baselines.laplacian_score import LaplacianScore
from l1lsmi.baselines.lasso_k import LassoK
from l1lsmi.baselines.mrmr import MRMR
from l1lsmi.baselines.qpfs import QPFS
from l1lsmi.baselines.relieff import ReliefF
from l1lsmi.baselines.spec import SPEC

__all__ = ["MRMR", "QPFS", "LassoK", "ReliefF", "SPEC", "LaplacianScore"]
