"""Image segmentation."""

from experiments.problem import Real

DATASET = Real(name="segment", label="segment", task="classification", n_features=18, n_classes=7)
