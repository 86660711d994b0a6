"""German credit."""

from experiments.problem import Real

DATASET = Real(name="german", label="german", task="classification", n_features=20, n_classes=2)
