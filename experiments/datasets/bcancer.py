"""Breast cancer (Ljubljana): recurrence."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="bcancer",
    n_rows=277,
    n_features=9,
    class_counts=(196, 81),
    source=OpenML(13),
    recipe=Recipe(target="Class", labels=("no-recurrence-events", "recurrence-events"), drop_missing=True),
    class_names=("no-recurrence-events", "recurrence-events"),
    note="9 of the 286 rows have missing values and are dropped.",
    citation="Zwitter and Soklic (1988), Breast Cancer (Ljubljana), UCI; OpenML 13",
)
