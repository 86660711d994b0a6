"""Musk, second version; groups are molecules."""

from experiments.problem import Real

DATASET = Real(name="musk2", label="musk2", task="classification", n_features=166, n_classes=2)
