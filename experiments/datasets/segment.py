"""Image segmentation."""

from experiments.data.recipe import OpenML, Recipe
from experiments.real import Real

SEGMENTS = ("brickface", "sky", "foliage", "cement", "window", "path", "grass")

DATASET = Real(
    name="segment",
    n_rows=2310,
    n_features=18,
    class_counts=(330,) * 7,
    source=OpenML(36),
    recipe=Recipe(target="class", labels=SEGMENTS, drop_constant=True),
    class_names=SEGMENTS,
    citation="Brodley (1990), Image Segmentation, UCI; OpenML 36",
)
