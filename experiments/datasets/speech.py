"""Speech: the paper's voice data."""

from experiments.real import Real

DATASET = Real(
    name="speech",
    n_rows=400,
    n_features=50,
    class_counts=(200, 200),
    note="Recorded by the paper's authors, not published.",
    licence="no licence is stated",
    citation="Voice data of the paper's authors",
)
