"""Solar flares."""

from experiments.problem import Real

DATASET = Real(name="flaresolar", label="flaresolar", task="classification", n_features=9, n_classes=2)
