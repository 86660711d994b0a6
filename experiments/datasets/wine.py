"""Wine: three growers."""

from experiments.problem import Real

DATASET = Real(name="wine", label="wine", task="classification", n_features=13, n_classes=3)
