"""Ionosphere: radar returns."""

from experiments.problem import Real

DATASET = Real(name="ionosphere", label="ionosphere", task="classification", n_features=33, n_classes=2)
