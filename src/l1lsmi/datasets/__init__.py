"""Data to try selectors on: the three artificial problems of the paper, and its 23 real data sets."""

from l1lsmi.datasets.dataset import Dataset
from l1lsmi.datasets.real import load, names
from l1lsmi.datasets.toys import make_and_or, make_quad, make_xor

__all__ = ["make_and_or", "make_quad", "make_xor", "load", "names", "Dataset"]
