"""Data to try selectors on: the three artificial problems of the paper."""

from l1lsmi.datasets.toys import make_and_or, make_quad, make_xor

__all__ = ["make_and_or", "make_quad", "make_xor"]
