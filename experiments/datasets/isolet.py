"""Isolet: spoken letters; groups are speakers."""

from experiments.data.recipe import UCI, Recipe, numbered
from experiments.real import Real

DATASET = Real(
    name="isolet",
    n_rows=6238,
    n_features=617,
    class_counts=(*(240,) * 5, 238, *(240,) * 20),
    source=UCI("static/public/54/isolet.zip", ("isolet1+2+3+4.data",)),
    recipe=Recipe(
        labels=numbered("", 26),
        group_sizes=(1560, 1560, 1560, 1558),
        standardise="",
        feature_names=numbered("f", 617),
    ),
    class_names=tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    grouped_by="set of 30 speakers",
    note="The groups are consecutive rows: 1560, 1560, 1560 and 1558.",
    citation="Cole and Fanty (1991), ISOLET, UCI, doi:10.24432/C51G69",
)
