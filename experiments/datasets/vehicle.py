"""Vehicles by their silhouettes."""

from experiments.problem import Real

DATASET = Real(name="vehicle", label="vehicle", task="classification", n_features=18, n_classes=4)
