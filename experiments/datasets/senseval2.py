"""Senseval-2: senses of a word."""

from experiments.problem import Real

DATASET = Real(name="senseval2", label="senseval2", task="classification", n_features=50, n_classes=3)
