"""Data sets as .npz files: read with every suspicion, written so that no half a file can be found."""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from l1lsmi._arrays import HostArray
from l1lsmi._atomic_file import write_atomically
from l1lsmi.datasets.dataset import Dataset, check_stored
from l1lsmi.datasets.entry import Entry

#: What may be wrong with a zip archive of arrays; ValueError is what numpy says to pickled objects.
DAMAGE = (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError)


def read(path: Path, name: str, entry: Entry, *, partial: bool = False) -> Dataset:
    """Read and check a stored data set. Nothing is unpickled.

    Parameters
    ----------
    path : Path
    name : str
    entry : Entry
    partial : bool
        Whether the file holds only some of the rows.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        If the file is damaged, or is not what it should be; the message names it.
    """
    try:
        arrays = _arrays(path)
        data = _dataset(arrays, path, name, entry, partial)
        check_stored(data, entry)
    except DAMAGE as error:
        reason = str(error).strip("'\"").rstrip(".")
        raise ValueError(
            f"{path} is no usable copy of {name}: it {reason}. Replace it by a good copy, or delete it."
        ) from error
    return data


def _arrays(path: Path) -> dict[str, HostArray]:
    try:
        with path.open("rb") as stream:
            opened = np.load(stream, allow_pickle=False)
            if isinstance(opened, np.ndarray):
                raise ValueError("holds a single array, and no X and y")
            arrays = {key: opened[key] for key in opened.files}
    except ValueError as error:
        if "pickle" in str(error):
            raise ValueError("is no .npz file, or holds pickled objects, which are never loaded") from error
        raise
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise ValueError(f"cannot be read ({error or type(error).__name__})") from error
    missing = [key for key in ("X", "y") if key not in arrays]
    if missing:
        raise ValueError(f"has no {' and no '.join(missing)}")
    stated = arrays.pop("sha256", None)
    if stated is not None and str(stated) != _digest(arrays):
        raise ValueError("does not have the checksum that was written with it")
    return arrays


def _dataset(arrays: dict[str, HostArray], path: Path, name: str, entry: Entry, partial: bool) -> Dataset:
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or y.shape != X.shape[:1] or 0 in X.shape:
        raise ValueError(f"has X of shape {X.shape} and y of shape {y.shape}, which do not fit")
    if X.dtype.kind not in "fiu" or y.dtype.kind not in ("iu" if entry.counts else "fiu"):
        raise ValueError(f"has X of type {X.dtype} and y of type {y.dtype}, which do not fit {entry.task}")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise ValueError("has values that are missing or infinite")
    names = _words(arrays, "feature_names", X.shape[1]) or tuple(f"f{j + 1}" for j in range(X.shape[1]))
    groups = arrays.get("groups")
    if groups is not None and (groups.shape != y.shape or groups.dtype.kind not in "iu"):
        raise ValueError("has groups that are not one whole number for each row")
    source = f"file {path}" + (f", from {arrays['source']}" if "source" in arrays else "")
    if partial:
        source += f"; only {len(y)} of the {entry.rows} rows of the paper's {name}"
    return Dataset(
        name,
        X=np.ascontiguousarray(X, dtype=np.float64),
        y=y.astype(np.int64 if entry.counts else np.float64),
        task=entry.task,
        feature_names=names,
        class_names=_class_names(arrays, y, entry) if entry.counts else None,
        groups=None if groups is None else groups.astype(np.int64),
        partial=partial,
        source=source,
    )


def _class_names(arrays: dict[str, HostArray], y: HostArray, entry: Entry) -> tuple[str, ...]:
    labels = np.unique(y).tolist()
    named = list(range(entry.first_label, entry.first_label + len(entry.class_names)))
    numbers = tuple(str(label) for label in labels)
    return _words(arrays, "class_names", len(labels)) or (entry.class_names if labels == named else numbers)


def _words(arrays: dict[str, HostArray], key: str, n: int) -> tuple[str, ...]:
    if key not in arrays:
        return ()
    if arrays[key].shape != (n,) or arrays[key].dtype.kind != "U":
        raise ValueError(f"has {key} that are not {n} strings")
    return tuple(arrays[key].tolist())


def write(data: Dataset, path: Path) -> None:
    """Store a data set with its checksum. The file appears whole or not at all.

    Parameters
    ----------
    data : Dataset
    path : Path
        Its folder is made if need be.
    """
    arrays: dict[str, Any] = {"X": data.X, "y": data.y, "feature_names": np.array(data.feature_names)}
    arrays["source"] = np.array(data.source)
    if data.class_names is not None:
        arrays["class_names"] = np.array(data.class_names)
    if data.groups is not None:
        arrays["groups"] = data.groups
    arrays["sha256"] = np.array(_digest(arrays))
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    # Of two that write at once the last one wins, and both have written the same.
    write_atomically(path, stream.getvalue())


def _digest(arrays: dict[str, HostArray]) -> str:
    """Checksum of arrays, whatever the file looks like that they are kept in."""
    digest = hashlib.sha256()
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype.str} {arrays[key].shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
