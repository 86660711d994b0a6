"""SPECTF: images of hearts."""

from experiments.data.recipe import UCI, Recipe
from experiments.real import Real

DATASET = Real(
    name="spectf",
    n_rows=267,
    n_features=44,
    class_counts=(55, 212),
    source=UCI("static/public/96/spectf+heart.zip", ("SPECTF.train", "SPECTF.test")),
    recipe=Recipe(
        target=0,
        labels=("0", "1"),
        feature_names=tuple(f"F{i}{state}" for i in range(1, 23) for state in "RS"),
    ),
    first_label=0,
    citation="Cios, Kurgan and Goodenday (2001), SPECTF Heart, UCI, doi:10.24432/C5N015",
)
