"""Sonar: mines and rocks."""

from experiments.problem import Real

DATASET = Real(name="sonar", label="sonar", task="classification", n_features=60, n_classes=2)
