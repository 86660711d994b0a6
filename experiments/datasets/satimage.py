"""Satellite images: kinds of soil."""

from experiments.data.recipe import UCI, Recipe
from experiments.real import Real

DATASET = Real(
    name="satimage",
    n_rows=6435,
    n_features=36,
    class_counts=(1533, 703, 1358, 626, 707, 1508),
    source=UCI(
        "static/public/146/statlog+landsat+satellite.zip",
        ("sat.trn", "sat.tst"),
        delimiter=None,
        sha256="7c54e0e11c872a1b0b647da370d596dcb06746159cce4121d92ccd70b7d7ce3c",
    ),
    recipe=Recipe(
        labels=("1", "2", "3", "4", "5", "7"),
        feature_names=tuple(f"pixel{p}_band{b}" for p in range(1, 10) for b in range(1, 5)),
    ),
    class_names=tuple(f"uci_class_{i}" for i in (1, 2, 3, 4, 5, 7)),
    citation="Srinivasan (1993), Statlog (Landsat Satellite), UCI, doi:10.24432/C55887",
)
