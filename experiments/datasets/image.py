"""Image segmentation with two joint classes."""

from experiments.problem import Real

DATASET = Real(name="image", label="image", task="classification", n_features=18, n_classes=2)
