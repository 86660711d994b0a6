"""Sonar: mines and rocks."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="sonar",
    n_rows=208,
    n_features=60,
    class_counts=(97, 111),
    source=OpenML(40),
    recipe=Recipe(target="Class", labels=("rock", "mine")),
    class_names=("rock", "mine"),
    citation="Sejnowski and Gorman (1988), Connectionist Bench (Sonar, Mines vs. Rocks), UCI; OpenML 40",
)
