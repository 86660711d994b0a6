"""Solar flares."""

from experiments.data.recipe import UCI, Recipe
from experiments.real import Real

DATASET = Real(
    name="flaresolar",
    n_rows=1066,
    n_features=9,
    class_counts=(477, 589),
    source=UCI("static/public/89/solar+flare.zip", ("flare.data2",), delimiter=None, skip=1),
    recipe=Recipe(
        target=2,
        # Class 1 is spot distribution "O" in all 115 distinct rows of the paper's copy.
        labels=("o", ("x", "i", "c")),
        drop=(0, 1, 9),
        feature_names=(
            *("activity", "evolution", "prev_24h_activity", "historically_complex"),
            *("became_historically_complex", "area"),
            *("c_class_flares", "m_class_flares", "x_class_flares"),
        ),
    ),
    class_names=("spot distribution O", "spot distribution X, I or C"),
    citation="Bradshaw (1989), Solar Flare, UCI",
)
