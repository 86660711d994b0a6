"""Well-known methods to compare with, one file each."""

from l1lsmi.baselines.laplacian_score import LaplacianScore
from l1lsmi.baselines.relieff import ReliefF
from l1lsmi.baselines.spec import SPEC

__all__ = ["LaplacianScore", "ReliefF", "SPEC"]
