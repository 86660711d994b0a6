"""Two classes: redundancy and weak interaction."""

from experiments.problem import Toy
from l1lsmi.datasets import make_and_or
from l1lsmi.datasets.toys import TRUE_FEATURES

DATASET = Toy(
    name="and_or",
    label="and-or",
    n_classes=2,
    make=make_and_or,
    true_features=TRUE_FEATURES["and_or"],
)
