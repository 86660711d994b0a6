"""Million songs: year of a song, in standard deviations."""

from experiments.problem import Real

DATASET = Real(name="msd", label="msd", task="regression", n_features=90, standardise_target=True)
