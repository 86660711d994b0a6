"""CT slices: position of a slice along the body, in standard deviations."""

from experiments.problem import Real

DATASET = Real(name="ctslices", label="ctslices", task="regression", n_features=379, standardise_target=True)
