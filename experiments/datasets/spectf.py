"""SPECTF: images of hearts."""

from experiments.problem import Real

DATASET = Real(name="spectf", label="spectf", task="classification", n_features=44, n_classes=2)
