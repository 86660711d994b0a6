"""Million songs: year of a song, in standard deviations."""

from experiments.data.recipe import UCI, Recipe, numbered
from experiments.real import Real

DATASET = Real(
    name="msd",
    n_rows=10000,
    n_features=90,
    source=UCI(
        "static/public/203/yearpredictionmsd.zip",
        ("YearPredictionMSD.txt",),
        sha256="06f801af323bb7798e800583acce4ea1ed2697ac12c23f4424aea0a7a3d09e11",
    ),
    recipe=Recipe(
        target=0,
        standardise="",
        feature_names=(*numbered("timbre_avg", 12), *numbered("timbre_cov", 78)),
    ),
    published_rows=515345,
    partial_file="msd_first1176.npz",
    note=(
        "All 515345 rows; the 10000 that the paper uses are unknown. The target is the raw "
        "year; the paper's errors are in standard deviations."
    ),
    citation="Bertin-Mahieux (2011), Year Prediction MSD, UCI",
    standardise_target=True,
)
