"""Image segmentation with two joint classes."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

DATASET = Real(
    name="image",
    n_rows=1155,
    n_features=18,
    class_counts=(495, 660),
    source=OpenML(36),
    recipe=Recipe(
        target="class",
        labels=(("cement", "window", "grass"), ("brickface", "sky", "foliage", "path")),
        drop_constant=True,
    ),
    class_names=("cement, window or grass", "brickface, sky, foliage or path"),
    published_rows=2310,
    published_counts=(990, 1320),
    note="All 2310 rows; the 1155 that the paper uses are unknown.",
    citation="Brodley (1990), Image Segmentation, UCI; OpenML 36",
)
