"""Configurations of experiments."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.registry import all_methods, all_problems, pick

FOLDER = Path(__file__).parent / "configs"


@dataclass(frozen=True)
class Config:
    """Configuration of an experiment.

    Attributes
    ----------
    experiment : str
        Name of the files of its results.
    protocols : tuple of str
        "toy" (F-measure), "subset" (the measure of given sets), "paper", "held_out".
    datasets, methods : tuple of str
    trials : int
    n_samples : int
        Maximum number of rows of a trial.
    seed : int
        Seed of all random numbers.
    several_k : bool
        Whether several numbers of features are selected instead of one.
    paper_only : tuple of str
        Methods that are run under the protocol "paper" only.
    """

    experiment: str
    protocols: tuple[str, ...]
    datasets: tuple[str, ...]
    methods: tuple[str, ...]
    trials: int
    n_samples: int = 400
    seed: int = 0
    several_k: bool = False
    paper_only: tuple[str, ...] = ()

    def fingerprint(self) -> dict[str, Any]:
        """Settings that all rows of a file share; trials, methods and datasets can be added."""
        return {
            "experiment": self.experiment,
            "protocols": list(self.protocols),
            "n_samples": self.n_samples,
            "seed": self.seed,
            "several_k": self.several_k,
        }

    def reason_to_skip(self, method: str, dataset: str, protocol: str) -> str | None:
        """Why a method is not run on a dataset under a protocol, or None."""
        if protocol == "subset":
            return None
        if method in self.paper_only and protocol != "paper":
            return "run under the paper's protocol only, for its cost"
        return all_methods()[method].reason_to_skip(all_problems()[dataset])

    def with_choices(
        self, trials: int | None = None, methods: list[str] | None = None, datasets: list[str] | None = None
    ) -> Config:
        """The same configuration with the choices of the command line."""
        chosen: dict[str, Any] = {}
        if trials is not None:
            if trials < 1:
                raise ValueError(f"trials must be at least 1, not {trials}.")
            chosen["trials"] = trials
        if methods:
            chosen["methods"] = tuple(methods)
        if datasets:
            chosen["datasets"] = tuple(datasets)
        return _checked(replace(self, **chosen))


def config_names() -> list[str]:
    """Names of the available configurations."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_config(name: str) -> Config:
    """Read a configuration by name, or a .toml file by path."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if not path.is_file():
        raise ValueError(
            f"There is no configuration {name!r}: choose from {', '.join(config_names())}, "
            "or give the path of a .toml file."
        )
    values = tomllib.loads(path.read_text(encoding="utf-8"))
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    try:
        return _checked(Config(**{"experiment": path.stem, **values, **lists}))
    except TypeError as error:  # a misspelt or missing key
        raise ValueError(f"{path.name} is not a configuration: {error}.") from error


def _checked(config: Config) -> Config:
    pick(all_problems(), config.datasets, "dataset")
    if config.protocols != ("subset",):
        pick(all_methods(), config.methods, "method")
    return config
