"""Computer activity: share of time in user mode."""

from experiments.problem import Real

DATASET = Real(name="cpuact", label="cpuact", task="regression", n_features=21)
