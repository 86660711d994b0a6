"""A small experiment for tests of the framework."""

from experiments.config import Config

TOYS = ("and_or", "quad", "xor")


def small(**changes):
    settings = {"experiment": "small", "protocols": ("toy",), "datasets": TOYS, "methods": ("pc", "relief")}
    return Config(**{**settings, "trials": 2, "n_samples": 60, **changes})
