"""Wine: three growers."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="wine",
    n_rows=178,
    n_features=13,
    class_counts=(59, 71, 48),
    source=OpenML(187),
    recipe=Recipe(target="class", labels=("1", "2", "3")),
    citation="Aeberhard and Forina (1991), Wine, UCI; OpenML 187",
)
