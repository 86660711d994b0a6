"""Musk, first version; groups are molecules."""

from experiments.problem import Real

DATASET = Real(name="musk1", label="musk1", task="classification", n_features=166, n_classes=2)
