"""Regression: non-linear dependence."""

from experiments.problem import Toy
from l1lsmi.datasets import make_quad
from l1lsmi.datasets.toys import TRUE_FEATURES

DATASET = Toy(
    name="quad",
    label="quad",
    make=make_quad,
    true_features=TRUE_FEATURES["quad"],
)
