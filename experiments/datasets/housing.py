"""Boston housing: median value in thousands of dollars."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="housing",
    n_rows=506,
    n_features=13,
    source=OpenML(531),
    recipe=Recipe(target="MEDV"),
    licence="no licence is stated",
    citation="Harrison and Rubinfeld (1978), Boston house prices, StatLib; OpenML 531",
)
