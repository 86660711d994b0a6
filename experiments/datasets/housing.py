"""Boston housing: median value in thousands of dollars."""

from experiments.problem import Real

DATASET = Real(name="housing", label="housing", task="regression", n_features=13)
