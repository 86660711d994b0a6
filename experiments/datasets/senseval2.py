"""Senseval-2: senses of a word."""

from experiments.real import Real

DATASET = Real(
    name="senseval2",
    n_rows=534,
    n_features=50,
    class_counts=(178,) * 3,
    note="Features extracted from Senseval-2 by the paper's authors, not published.",
    licence="no licence is stated",
    citation="Senseval-2 (2001), Workshop on Evaluating Word Sense Disambiguation Systems",
)
