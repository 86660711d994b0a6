"""Real datasets: descriptions, local copies, refused files, and that the real files are the paper's."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

pytest.importorskip("pooch")

from experiments.data.dataset import Dataset
from experiments.data.recipe import OpenML
from experiments.real import Real
from experiments.registry import all_problems

# The paper's table of datasets: features, samples, and percent of each class.
PAPER = {
    "abalone": (8, 4177, ()),
    "bcancer": (9, 277, (70.8, 29.2)),
    "cpuact": (21, 3000, ()),
    "ctslices": (379, 53500, ()),
    "flaresolar": (9, 1066, (44.7, 55.3)),
    "german": (20, 1000, (70.0, 30.0)),
    "glass": (9, 214, (32.7, 35.5, 7.9, 6.1, 4.2, 13.6)),
    "housing": (13, 506, ()),
    "image": (18, 1155, (42.9, 57.1)),
    "ionosphere": (33, 351, (64.1, 35.9)),
    "isolet": (617, 6238, (100 / 26,) * 26),
    "msd": (90, 10000, ()),
    "musk1": (166, 476, (56.5, 43.5)),
    "musk2": (166, 6598, (84.6, 15.4)),
    "satimage": (36, 6435, (23.8, 10.9, 21.1, 9.7, 11.0, 23.4)),
    "segment": (18, 2310, (100 / 7,) * 7),
    "senseval2": (50, 534, (100 / 3,) * 3),
    "sonar": (60, 208, (46.6, 53.4)),
    "spectf": (44, 267, (20.6, 79.4)),
    "speech": (50, 400, (50.0, 50.0)),
    "vehicle": (18, 846, (25.1, 25.7, 25.8, 23.5)),
    "vowel": (13, 990, (100 / 11,) * 11),
    "wine": (13, 178, (33.1, 39.9, 27.0)),
}
PARTIAL = {"ctslices": 682, "msd": 1176}
REAL = os.environ.get("L1LSMI_DATA")
DATASETS = {name: problem for name, problem in all_problems().items() if isinstance(problem, Real)}


@pytest.fixture(autouse=True)
def own_directories(monkeypatch, tmp_path):
    """Tests use neither the directory nor the cache of the user."""
    monkeypatch.delenv("L1LSMI_DATA", raising=False)
    monkeypatch.setenv("L1LSMI_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def real():
    """The directory with the real files."""
    if not REAL:
        pytest.skip("L1LSMI_DATA is not set to a directory with the real datasets")
    return Path(REAL)


def wine_arrays():
    X, y = load_wine(return_X_y=True)
    return {"X": X, "y": y.astype(np.int64) + 1}


def store(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


def load(name, **options):
    return DATASETS[name].load(**options)


# -- descriptions -----------------------------------------------------------------------------


def test_datasets_are_those_of_the_paper():
    assert list(DATASETS) == list(PAPER)


@pytest.mark.parametrize("name", PAPER)
def test_sizes_are_those_of_the_paper(name):
    real, (columns, rows, percent) = DATASETS[name], PAPER[name]
    assert (real.n_features, real.n_rows) == (columns, rows)
    assert real.task == ("classification" if percent else "regression")
    if percent:
        assert sum(real.class_counts) == rows
        # The paper rounds to one decimal.
        np.testing.assert_allclose(100 * np.array(real.class_counts) / rows, percent, atol=0.06)
        assert sum(real.published_size[1]) == real.published_size[0]
        assert len(real.class_names) in (0, len(percent))
    assert real.citation and real.licence
    assert sum(real.recipe.group_sizes) in (0, rows)


@pytest.mark.parametrize("name", PAPER)
def test_every_dataset_has_a_source_or_a_reason(name):
    real = DATASETS[name]
    if real.source is None:
        assert name in {"senseval2", "speech"} and "not published" in real.note
        return
    assert len(real.recipe.labels) == len(real.class_counts)
    # A published copy with more rows than the paper uses is noted.
    assert (real.published_rows is not None) == ("unknown" in real.note)
    has_names = isinstance(real.source, OpenML) or real.source.header
    assert len(real.recipe.feature_names) == (0 if has_names else real.n_features)


# -- local copies -----------------------------------------------------------------------------


def test_the_argument_precedes_the_environment_variable(monkeypatch, tmp_path):
    arrays = wine_arrays()
    for i, folder in enumerate(("argument", "environment")):
        store(tmp_path / folder / "wine.npz", X=arrays["X"] + i, y=arrays["y"])

    def shift(**options):
        return (load("wine", download=False, **options).X - arrays["X"]).mean()

    monkeypatch.setenv("L1LSMI_DATA", str(tmp_path / "environment"))
    assert shift() == pytest.approx(1)
    assert shift(directory=str(tmp_path / "argument")) == pytest.approx(0)


def test_all_arrays_of_a_file_are_loaded(tmp_path):
    arrays = wine_arrays()
    extra = {
        "feature_names": np.array([f"n{j}" for j in range(13)]),
        "class_names": np.array(["a", "b", "c"]),
        "groups": np.arange(178, dtype=np.int32) // 2,
    }
    path = store(tmp_path / "wine.npz", X=arrays["X"].astype(np.float32), y=arrays["y"], **extra)
    data = load("wine", directory=tmp_path)
    assert isinstance(data, Dataset) and data.name == "wine" and data.task == "classification"
    assert data.X.dtype == np.float64 and data.y.dtype == np.int64 and data.groups.dtype == np.int64
    np.testing.assert_array_equal(data.X, arrays["X"].astype(np.float32))
    np.testing.assert_array_equal(data.y, arrays["y"])
    np.testing.assert_array_equal(data.groups, extra["groups"])
    assert data.feature_names == tuple(extra["feature_names"]) and data.class_names == ("a", "b", "c")
    assert not data.partial and data.source == f"file {path}"
    assert repr(data) == "<wine: 178 rows, 13 features, 3 classes>"


def test_default_names(tmp_path):
    store(tmp_path / "wine.npz", **wine_arrays())
    data = load("wine", directory=tmp_path)
    assert data.feature_names[::6] == ("f1", "f7", "f13")
    assert data.class_names == ("1", "2", "3") and data.groups is None
    # Described class names are used if the labels are those described.
    named = dataclasses.replace(DATASETS["wine"], class_names=("x", "y", "z"))
    assert named.load(directory=tmp_path).class_names == ("x", "y", "z")
    other = dataclasses.replace(named, first_label=0)
    assert other.load(directory=tmp_path).class_names == ("1", "2", "3")


def test_a_partial_file_is_used_if_there_is_no_complete_one(tmp_path):
    msd = Real(name="msd", n_rows=6, n_features=2, partial_file="msd_first1176.npz")
    rng = np.random.default_rng(0)
    store(tmp_path / "msd_first1176.npz", X=rng.normal(size=(4, 2)), y=rng.normal(size=4))
    part = msd.load(directory=tmp_path)
    assert part.partial and part.X.shape == (4, 2) and part.class_names is None
    assert "only 4 of the 6 rows" in part.source and "partial" in repr(part)
    store(tmp_path / "msd.npz", X=rng.normal(size=(6, 2)), y=rng.normal(size=6))
    whole = msd.load(directory=tmp_path)
    assert not whole.partial and whole.X.shape == (6, 2)
    store(tmp_path / "other" / "msd_first1176.npz", X=rng.normal(size=(6, 2)), y=rng.normal(size=6))
    with pytest.raises(ValueError, match=r"msd_first1176.*6 rows, but should be part of a dataset of 6 rows"):
        msd.load(directory=tmp_path / "other")


# -- what is refused --------------------------------------------------------------------------


def test_unknown_directories(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"directory='.*nowhere' is not a directory"):
        load("wine", directory=tmp_path / "nowhere")
    monkeypatch.setenv("L1LSMI_DATA", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match=r"L1LSMI_DATA='.*gone' is not a directory"):
        load("wine")


def test_a_dataset_without_any_copy(tmp_path):
    for name in ("wine", "vowel"):  # OpenML and the UCI archive
        with pytest.raises(FileNotFoundError, match="download=False") as caught:
            load(name, directory=tmp_path, download=False)
        for part in (f"{name}.npz", str(tmp_path), str(tmp_path / "cache"), "L1LSMI_DATA", "allow downloads"):
            assert part in str(caught.value)
    for name in ("senseval2", "speech"):
        with pytest.raises(FileNotFoundError, match=f"{name} cannot be downloaded .* directory"):
            load(name)


class Trap:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def bad_arrays(fault, tmp_path):
    good = wine_arrays()
    X, y = good["X"].copy(), good["y"].copy()
    X[3, 2] = np.nan
    return {
        "no target": {"X": good["X"]},
        "nothing": {},
        "missing value": {"X": X, "y": y},
        "too few rows": {"X": good["X"][:100], "y": y[:100]},
        "too few columns": {"X": good["X"][:, :5], "y": y},
        "lengths differ": {"X": good["X"], "y": y[:-1]},
        "flat X": {"X": good["X"].ravel(), "y": y},
        "two classes": {"X": good["X"], "y": np.minimum(y, 2)},
        "labels not whole": {"X": good["X"], "y": y + 0.5},
        "text": {"X": good["X"].astype(str), "y": y},
        "objects": {"X": good["X"], "y": np.array([Trap(tmp_path / "sprung")] * 178, dtype=object)},
        "names": {**good, "feature_names": np.array(["a", "b"])},
        "class names": {**good, "class_names": np.array([1, 2, 3])},
        "groups": {**good, "groups": np.zeros(178)},
    }[fault]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("no target", "it has no y"),
        ("nothing", "it has no X and no y"),
        ("missing value", "contains NaN"),
        ("too few rows", "it has 100 rows and 13 columns .*but 178 rows and 13 columns"),
        ("too few columns", "it has 178 rows and 5 columns"),
        ("lengths differ", r"inconsistent numbers of samples: \[178, 177\]"),
        ("flat X", "Expected 2D array, got 1D array"),
        ("two classes", r"class counts \(59, 119\), but .* class counts \(59, 71, 48\) are expected"),
        ("labels not whole", "y has dtype float64, which does not suit classification"),
        ("text", "not compatible with arrays of bytes/strings"),
        ("objects", "pickled objects, which are never loaded"),
        ("names", "feature_names must be 13 strings"),
        ("class names", "class_names must be 3 strings"),
        ("groups", "groups must have one integer for each row"),
    ],
)
def test_invalid_files_are_refused_by_name(fault, reason, tmp_path):
    store(tmp_path / "wine.npz", **bad_arrays(fault, tmp_path))
    with pytest.raises(ValueError, match=f"wine.npz is not a usable copy of wine .*{reason}") as caught:
        load("wine", directory=tmp_path)
    assert "replace the file or delete it" in str(caught.value)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("kind", ["empty", "text", "pickle", "one array", "cut off", "overwritten", "folder"])
def test_damaged_files_are_refused_by_name(kind, tmp_path):
    path = store(tmp_path / "wine.npz", **wine_arrays())
    whole = path.read_bytes()
    half = len(whole) // 2
    if kind == "folder":
        path.unlink()
        path.mkdir()
    elif kind == "one array":
        with path.open("wb") as stream:
            np.save(stream, np.arange(3))
    elif kind == "pickle":
        import pickle

        path.write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    else:
        overwritten = whole[:half] + bytes(100) + whole[half + 100 :]
        contents = {"empty": b"", "text": b"X,y\n1,2\n", "cut off": whole[:half], "overwritten": overwritten}
        path.write_bytes(contents[kind])
    with pytest.raises(ValueError, match=r"wine\.npz is not a usable copy of wine"):
        load("wine", directory=tmp_path)
    assert not (tmp_path / "sprung").exists()


# -- the real files ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAPER)
def test_real_files_are_the_datasets_of_the_paper(name, real):
    data, (columns, rows, percent) = load(name, directory=real, download=False), PAPER[name]
    assert data.partial == (name in PARTIAL)
    if data.partial:
        assert len(data.y) == PARTIAL[name] and "only" in data.source
    else:
        assert data.X.shape == (rows, columns) and "only" not in data.source
    assert np.isfinite(data.X).all() and len(data.feature_names) == data.X.shape[1]
    if percent:
        counts = np.unique(data.y, return_counts=True)[1]
        assert tuple(counts) == DATASETS[name].class_counts and len(data.class_names) == len(percent)
    assert (data.groups is not None) == bool(DATASETS[name].grouped_by)


def test_real_groups_hold_one_class_of_molecule_each(real):
    # A molecule is a musk or it is not: all of its shapes have one label.
    for name, n_molecules in (("musk1", 92), ("musk2", 102)):
        data = load(name, directory=real)
        pairs = {(g, label) for g, label in zip(data.groups.tolist(), data.y.tolist(), strict=True)}
        assert len(pairs) == len(set(data.groups.tolist())) == n_molecules
    isolet = load("isolet", directory=real)
    assert tuple(np.unique(isolet.groups, return_counts=True)[1]) == DATASETS["isolet"].recipe.group_sizes
