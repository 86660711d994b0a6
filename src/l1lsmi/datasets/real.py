"""The real data sets of the paper: found in a directory or in the cache, or else downloaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from l1lsmi.datasets import files, remote
from l1lsmi.datasets.catalogue import CATALOGUE
from l1lsmi.datasets.dataset import Dataset
from l1lsmi.datasets.entry import Entry


def names() -> tuple[str, ...]:
    """Names of the 23 real data sets of the paper, in the order of its table.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> from l1lsmi.datasets import names
    >>> len(names()), names()[:3]
    (23, ('abalone', 'bcancer', 'cpuact'))
    """
    return tuple(CATALOGUE)


def load(
    name: str,
    *,
    directory: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    download: bool = True,
    verbose: int = 0,
) -> Dataset:
    """Load a real data set of the paper.

    It is looked for in ``directory``, then in ``cache``, and is then downloaded into the cache. A copy
    is refused if it is damaged or has another size than it should have.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    directory : path or None, default=None
        Folder with files ``NAME.npz``; None takes the environment variable ``L1LSMI_DATA``, and no
        folder if that is not set. ``ctslices_first682.npz`` and ``msd_first1176.npz``, which hold the
        first rows of two large sets, are taken where there is no whole copy beside them.
    cache : path or None, default=None
        Folder for downloads; None takes the environment variable ``L1LSMI_CACHE``, or ``l1lsmi`` in
        the place that the operating system has for such things.
    download : bool, default=True
        Whether to ask OpenML or the UCI archive for what is not there.
    verbose : int, default=0
        1 shows the progress of a download.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If there is no such set, or a copy of it is not in order.
    FileNotFoundError
        If there is no copy of it, and none can be or may be downloaded.
    ConnectionError
        If the download fails.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from l1lsmi.datasets import load
    >>> X, y = load_wine(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(Path(folder) / "wine.npz", X=X, y=y + 1)
    ...     wine = load("wine", directory=folder)
    >>> wine
    <wine: 178 rows, 13 features, 3 classes>
    >>> wine.X.shape, wine.task, wine.class_names
    ((178, 13), 'classification', ('1', '2', '3'))
    """
    if name not in CATALOGUE:
        raise ValueError(f"There is no data set name={name!r}: take one of {', '.join(CATALOGUE)}.")
    entry = CATALOGUE[name]
    folder, store = _directory(directory), _cache(cache)
    if folder is not None:
        for file, partial in ((f"{name}.npz", False), (entry.partial_file, True)):
            if file and (folder / file).exists():
                return files.read(folder / file, name, entry, partial=partial)
    stored = store / f"{name}.npz"
    if stored.exists():
        return files.read(stored, name, entry)
    looked = f"{name}.npz is neither in {_said(folder)} nor in the cache {store}"
    advice = "give a directory that has it, by the argument or by L1LSMI_DATA"
    return _download(name, entry, stored, looked, advice, download, verbose)


def _download(
    name: str, entry: Entry, stored: Path, looked: str, advice: str, download: bool, verbose: int
) -> Dataset:
    if entry.source is None:
        raise FileNotFoundError(f"{looked}, and nobody offers it for download ({entry.note}): {advice}.")
    if not download:
        raise FileNotFoundError(f"{looked}, and download=False: {advice}, or allow the download.")
    try:
        data = remote.fetch(name, entry, verbose)
    except ConnectionError as error:
        raise ConnectionError(
            f"{looked}, and the download failed: {error}. Try again with a connection, or {advice}."
        ) from error
    files.write(data, stored)
    return data


def _said(folder: Path | None) -> str:
    return "a directory (none is given)" if folder is None else f"the directory {folder}"


def _directory(given: str | os.PathLike[str] | None) -> Path | None:
    path = given if given is not None else os.environ.get("L1LSMI_DATA") or None
    if path is None:
        return None
    if not Path(path).is_dir():
        origin = "directory" if given is not None else "the environment variable L1LSMI_DATA"
        raise FileNotFoundError(f"{origin}={os.fspath(path)!r} is no folder: name one that exists, or none.")
    return Path(path)


def _cache(given: str | os.PathLike[str] | None) -> Path:
    if given is not None:
        return Path(given)
    if os.environ.get("L1LSMI_CACHE"):
        return Path(os.environ["L1LSMI_CACHE"])
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "l1lsmi"
