"""Vowels by speaker."""

from experiments.data.recipe import UCI, Recipe, numbered
from experiments.real import Real

DATASET = Real(
    name="vowel",
    n_rows=990,
    n_features=13,
    class_counts=(90,) * 11,
    source=UCI(
        "ml/machine-learning-databases/undocumented/connectionist-bench/vowel/vowel-context.data",
        delimiter=None,
    ),
    recipe=Recipe(
        labels=numbered("", 11, start=0),
        feature_names=("train_or_test", "speaker_number", "sex", *numbered("F", 10, start=0)),
    ),
    citation="Deterding, Connectionist Bench (Vowel Recognition), UCI",
)
