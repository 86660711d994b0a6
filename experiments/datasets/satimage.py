"""Satellite images: kinds of soil."""

from experiments.problem import Real

DATASET = Real(name="satimage", label="satimage", task="classification", n_features=36, n_classes=6)
