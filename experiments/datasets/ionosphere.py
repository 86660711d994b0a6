"""Ionosphere: radar returns."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="ionosphere",
    n_rows=351,
    n_features=33,
    class_counts=(225, 126),
    source=OpenML(59),
    recipe=Recipe(target="class", labels=("g", "b"), drop_constant=True),
    class_names=("g", "b"),
    citation="Sigillito, Wing, Hutton and Baker (1989), Ionosphere, UCI; OpenML 59",
)
