"""Glass: kinds by their composition."""

from experiments.problem import Real

DATASET = Real(name="glass", label="glass", task="classification", n_features=9, n_classes=6)
