"""Regression: non-linear dependence."""

from experiments.problem import Toy
from l1lsmi.datasets import make_quad
from l1lsmi.datasets.toys import TRUE_FEATURES

DATASET = Toy(
    name="quad",
    label="quad",
    task="regression",
    n_features=10,
    make=make_quad,
    true_features=TRUE_FEATURES["quad"],
)
