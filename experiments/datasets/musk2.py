"""Musk, second version; groups are molecules."""

from experiments.data.recipe import UCI, Recipe, numbered
from experiments.real import Real

DATASET = Real(
    name="musk2",
    n_rows=6598,
    n_features=166,
    class_counts=(5581, 1017),
    source=UCI("static/public/75/musk+version+2.zip", ("clean2.data",)),
    recipe=Recipe(
        labels=("0", "1"), drop=(1,), group_column=0, feature_names=numbered("f", 166), standardise=""
    ),
    class_names=("non-musk", "musk"),
    first_label=0,
    grouped_by="molecule",
    citation="Chapman and Jain (1994), Musk (Version 2), UCI, doi:10.24432/C51608",
)
