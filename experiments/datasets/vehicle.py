"""Vehicles by their silhouettes."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="vehicle",
    n_rows=846,
    n_features=18,
    class_counts=(212, 217, 218, 199),
    source=OpenML(54),
    recipe=Recipe(target="Class", labels=("opel", "saab", "bus", "van")),
    class_names=("opel", "saab", "bus", "van"),
    citation="Mowforth and Shepherd (1987), Statlog (Vehicle Silhouettes), UCI; OpenML 54",
)
