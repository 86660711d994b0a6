"""Musk, first version; groups are molecules."""

from experiments.data.recipe import UCI, Recipe, numbered
from experiments.real import Real

DATASET = Real(
    name="musk1",
    n_rows=476,
    n_features=166,
    class_counts=(269, 207),
    source=UCI("static/public/74/musk+version+1.zip", ("clean1.data",)),
    recipe=Recipe(labels=("0", "1"), drop=(1,), group_column=0, feature_names=numbered("f", 166)),
    class_names=("non-musk", "musk"),
    first_label=0,
    grouped_by="molecule",
    citation="Chapman and Jain (1994), Musk (Version 1), UCI, doi:10.24432/C5ZK5B",
)
