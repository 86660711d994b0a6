"""Two classes: pure interaction."""

from experiments.problem import Toy
from l1lsmi.datasets import make_xor
from l1lsmi.datasets.toys import TRUE_FEATURES

DATASET = Toy(
    name="xor",
    label="xor",
    n_classes=2,
    make=make_xor,
    true_features=TRUE_FEATURES["xor"],
)
