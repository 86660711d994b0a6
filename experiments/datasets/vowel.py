"""Vowels by speaker."""

from experiments.problem import Real

DATASET = Real(name="vowel", label="vowel", task="classification", n_features=13, n_classes=11)
