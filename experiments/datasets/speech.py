"""Speech: the paper's voice data."""

from experiments.problem import Real

DATASET = Real(name="speech", label="speech", task="classification", n_features=50, n_classes=2)
