"""Glass: kinds by their composition."""

from experiments.data.recipe import UCI, Recipe
from experiments.real import Real

DATASET = Real(
    name="glass",
    n_rows=214,
    n_features=9,
    class_counts=(70, 76, 17, 13, 9, 29),
    source=UCI(
        "static/public/42/glass+identification.zip",
        ("glass.data",),
        sha256="499c07a17115bf63100bb19cc1fdefad7f464bf5dc2b168930fa2071fd6b6e65",
    ),
    recipe=Recipe(
        labels=("1", "2", "3", "5", "6", "7"),
        drop=(0,),
        feature_names=("RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"),
    ),
    class_names=tuple(f"uci_type_{i}" for i in (1, 2, 3, 5, 6, 7)),
    citation="German (1987), Glass Identification, UCI, doi:10.24432/C5WW2P",
)
