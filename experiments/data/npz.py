"""Local copies of datasets as .npz files; nothing is unpickled."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils import check_X_y

from experiments.data.dataset import Dataset, check_size

if TYPE_CHECKING:
    from experiments.real import Real

DAMAGED = (ValueError, OSError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


def read_npz(path: Path, real: Real, *, partial: bool = False) -> Dataset:
    """Read a local copy; a ValueError names a file that is damaged or is not the expected dataset."""
    try:
        return check_size(_dataset(_arrays(path), path, real, partial), real)
    except DAMAGED as error:
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".:")
        if "pickle" in reason or "Object arrays" in reason:
            reason = "it is not an .npz file, or contains pickled objects, which are never loaded"
        raise ValueError(
            f"{path} is not a usable copy of {real.name} ({reason}): replace the file or delete it."
        ) from error


def _arrays(path: Path) -> dict[str, np.ndarray]:
    with path.open("rb") as stream:
        opened = np.load(stream, allow_pickle=False)
        if isinstance(opened, np.ndarray):
            raise ValueError("it contains a single array instead of X and y")
        arrays = dict(opened)
    missing = [key for key in ("X", "y") if key not in arrays]
    if missing:
        raise ValueError(f"it has no {' and no '.join(missing)}")
    return arrays


def _dataset(arrays: dict[str, np.ndarray], path: Path, real: Real, partial: bool) -> Dataset:
    X, y = check_X_y(arrays["X"], arrays["y"])
    if y.dtype.kind not in ("iu" if real.class_counts else "fiu"):
        raise ValueError(f"y has dtype {y.dtype}, which does not suit {real.task}")
    groups = arrays.get("groups")
    if groups is not None and (groups.shape != y.shape or groups.dtype.kind not in "iu"):
        raise ValueError("groups must have one integer for each row")
    source = f"file {path}"
    if partial:
        source += f" with only {len(y)} of the {real.n_rows} rows"
    return Dataset(
        real.name,
        X=X.astype(np.float64),
        y=y.astype(np.int64 if real.class_counts else np.float64),
        task=real.task,
        feature_names=_strings(arrays, "feature_names", X.shape[1])
        or tuple(f"f{j + 1}" for j in range(X.shape[1])),
        class_names=_class_names(arrays, y, real) if real.class_counts else None,
        groups=None if groups is None else groups.astype(np.int64),
        partial=partial,
        source=source,
    )


def _class_names(arrays: dict[str, np.ndarray], y: np.ndarray, real: Real) -> tuple[str, ...]:
    labels = np.unique(y).tolist()
    named = list(range(real.first_label, real.first_label + len(real.class_names)))
    default = real.class_names if labels == named else tuple(map(str, labels))
    return _strings(arrays, "class_names", len(labels)) or default


def _strings(arrays: dict[str, np.ndarray], key: str, n: int) -> tuple[str, ...]:
    if key not in arrays:
        return ()
    if arrays[key].shape != (n,) or arrays[key].dtype.kind != "U":
        raise ValueError(f"{key} must be {n} strings")
    return tuple(arrays[key].tolist())
