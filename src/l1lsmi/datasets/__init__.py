"""Artificial problems whose relevant features are known, as in the paper's experiments."""

from l1lsmi.datasets.toys import make_and_or, make_quad, make_xor

__all__ = ["make_and_or", "make_quad", "make_xor"]
