"""Abalone: rings of a shell from its measurements."""

from experiments.problem import Real

DATASET = Real(name="abalone", label="abalone", task="regression", n_features=8)
