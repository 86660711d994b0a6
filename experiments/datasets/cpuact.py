"""Computer activity: share of time in user mode."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="cpuact",
    n_rows=3000,
    n_features=21,
    source=OpenML(197),
    recipe=Recipe(target="usr", standardise="Xy"),
    published_rows=8192,
    note="All 8192 rows; the 3000 that the paper uses are unknown.",
    licence="no licence is stated",
    citation="comp-activ, Delve, University of Toronto (1996); OpenML 197",
)
