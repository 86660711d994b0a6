"""Isolet: spoken letters; groups are speakers."""

from experiments.problem import Real

DATASET = Real(name="isolet", label="isolet", task="classification", n_features=617, n_classes=26)
