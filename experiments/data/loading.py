"""Datasets from a local directory, from the cache, or from the web."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.data.dataset import Dataset
from experiments.data.npz import read_npz

if TYPE_CHECKING:
    from experiments.real import Real

ADVICE = "pass a directory that has it as `directory` or in the environment variable L1LSMI_DATA"


def load(
    real: Real,
    *,
    directory: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
    verbose: int = 0,
) -> Dataset:
    """Load a dataset; see :meth:`experiments.real.Real.load`."""
    folder = _directory(directory)
    for file, partial in ((f"{real.name}.npz", False), (real.partial_file, True)):
        if folder is not None and file and (folder / file).exists():
            return read_npz(folder / file, real, partial=partial)
    where = "no directory is given" if folder is None else f"{folder} has no {real.name}.npz"
    if real.source is None:
        raise FileNotFoundError(f"{real.name} cannot be downloaded ({real.note}) and {where}: {ADVICE}.")
    # Not needed with local copies, and slow to import.
    from experiments.data import download as web

    store = web.cache_directory(cache)
    try:
        return web.load_published(real, store, download=download, verbose=verbose)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"There is no copy of {real.name} ({where}, and it is not in the cache {store}) and "
            f"download=False: {ADVICE}, or allow downloads."
        ) from error
    except (ConnectionError, ValueError) as error:
        kind = ValueError if isinstance(error, ValueError) else ConnectionError
        raise kind(f"The download of {real.name} failed ({error}): try again, or {ADVICE}.") from error


def _directory(given: str | os.PathLike[str] | None) -> Path | None:
    path = given if given is not None else os.environ.get("L1LSMI_DATA") or None
    if path is not None and not Path(path).is_dir():
        origin = "directory" if given is not None else "The environment variable L1LSMI_DATA"
        raise FileNotFoundError(f"{origin}={os.fspath(path)!r} is not a directory: pass an existing one.")
    return None if path is None else Path(path)
