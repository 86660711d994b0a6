"""Breast cancer (Ljubljana): recurrence."""

from experiments.problem import Real

DATASET = Real(name="bcancer", label="bcancer", task="classification", n_features=9, n_classes=2)
