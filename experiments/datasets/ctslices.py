"""CT slices: position of a slice along the body, in standard deviations."""

from experiments.data.recipe import UCI, Recipe
from experiments.real import Real

DATASET = Real(
    name="ctslices",
    n_rows=53500,
    n_features=379,
    source=UCI(
        "static/public/206/relative+location+of+ct+slices+on+axial+axis.zip",
        ("slice_localization_data.csv",),
        header=True,
        sha256="9411f92082678169d2a01356f036708498c3ab507f6595919456bbb04a1d942a",
    ),
    recipe=Recipe(group_column=0, drop_constant=True, standardise=""),
    grouped_by="patient",
    partial_file="ctslices_first682.npz",
    note="Raw values; the paper's errors are in standard deviations of the target.",
    citation="Graf, Kriegel, Schubert, Poelsterl and Cavallaro (2011), CT slices, UCI",
    standardise_target=True,
)
