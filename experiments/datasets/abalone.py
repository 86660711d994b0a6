"""Abalone: rings of a shell from its measurements."""

from experiments.data.recipe import UCI, Recipe
from experiments.real import Real

DATASET = Real(
    name="abalone",
    n_rows=4177,
    n_features=8,
    source=UCI(
        "static/public/1/abalone.zip",
        ("abalone.data",),
        sha256="755a6a67c5b266961a3f149ea13be2cfb6e6c727e48cee3c83bc0b4526210ee4",
    ),
    recipe=Recipe(
        codes={0: ("M", "F", "I")},
        standardise="Xy",
        feature_names=(
            *("sex_M1_F2_I3", "length", "diameter", "height"),
            *("whole_weight", "shucked_weight", "viscera_weight", "shell_weight"),
        ),
    ),
    citation="Nash, Sellers, Talbot, Cawthorn and Ford (1995), Abalone, UCI, doi:10.24432/C55C7W",
)
