"""Real data sets: where they are looked for, what is refused, and that the real ones are the paper's."""

import dataclasses
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine

from l1lsmi.datasets import Dataset, files, load, names
from l1lsmi.datasets.catalogue import CATALOGUE
from l1lsmi.datasets.entry import Entry, OpenML
from l1lsmi.datasets.real import _cache

# The paper's table of data sets: features, samples, and percent of each class ("even" where it says so).
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


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """No test looks into the directory or the cache of whoever runs it."""
    monkeypatch.delenv("L1LSMI_DATA", raising=False)
    monkeypatch.setenv("L1LSMI_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def real():
    """The directory with the real files."""
    if not REAL:
        pytest.skip("L1LSMI_DATA names no directory with the real data sets")
    return Path(REAL)


def wine_arrays():
    X, y = load_wine(return_X_y=True)
    return {"X": X, "y": y.astype(np.int64) + 1}


def store(path, **arrays):
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


# -- the catalogue ----------------------------------------------------------------------------


def test_names_are_those_of_the_paper_in_its_order():
    assert names() == tuple(PAPER)


@pytest.mark.parametrize("name", PAPER)
def test_the_catalogue_has_the_sizes_of_the_paper(name):
    entry, (columns, rows, percent) = CATALOGUE[name], PAPER[name]
    assert (entry.columns, entry.rows) == (columns, rows)
    assert entry.task == ("classification" if percent else "regression")
    if percent:
        assert sum(entry.counts) == rows
        # The paper rounds to one place.
        np.testing.assert_allclose(100 * np.array(entry.counts) / rows, percent, atol=0.06)
        assert sum(entry.after_download()[1]) == entry.after_download()[0]
        assert len(entry.class_names) in (0, len(percent))
    assert entry.citation and entry.licence
    assert sum(entry.recipe.blocks) in (0, rows)


@pytest.mark.parametrize("name", PAPER)
def test_every_set_has_a_source_or_says_why_not(name):
    entry = CATALOGUE[name]
    if entry.source is None:
        assert name in {"senseval2", "speech"} and "not published" in entry.note
        return
    assert len(entry.recipe.labels) == len(entry.counts)
    # Where there are more rows than the paper has, the difference is told.
    assert (entry.downloaded_rows is not None) == ("which" in entry.note)
    named = isinstance(entry.source, OpenML) or entry.source.header
    assert len(entry.recipe.feature_names) == (0 if named else entry.columns)


# -- where they are looked for ----------------------------------------------------------------


def test_the_directory_comes_first_then_the_cache(monkeypatch, tmp_path):
    arrays = wine_arrays()
    for i, folder in enumerate(("given", "environment", "own_cache", "cache")):
        store(tmp_path / folder / "wine.npz", X=arrays["X"] + i, y=arrays["y"])

    def shift(**options):
        return (load("wine", download=False, **options).X - arrays["X"]).mean()

    assert shift() == pytest.approx(3)
    assert shift(cache=tmp_path / "own_cache") == pytest.approx(2)
    monkeypatch.setenv("L1LSMI_DATA", str(tmp_path / "environment"))
    assert shift(cache=tmp_path / "own_cache") == pytest.approx(1)
    assert shift(directory=str(tmp_path / "given")) == pytest.approx(0)


def test_what_a_file_holds_is_what_is_loaded(tmp_path):
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


def test_names_that_a_file_lacks(tmp_path, monkeypatch):
    store(tmp_path / "wine.npz", **wine_arrays())
    data = load("wine", directory=tmp_path)
    assert data.feature_names[::6] == ("f1", "f7", "f13")
    assert data.class_names == ("1", "2", "3") and data.groups is None
    # The catalogue knows names of classes by their numbers.
    named = dataclasses.replace(CATALOGUE["wine"], class_names=("x", "y", "z"))
    monkeypatch.setitem(CATALOGUE, "wine", named)
    assert load("wine", directory=tmp_path).class_names == ("x", "y", "z")
    monkeypatch.setitem(CATALOGUE, "wine", dataclasses.replace(named, first_label=0))
    assert load("wine", directory=tmp_path).class_names == ("1", "2", "3")


def test_part_of_a_set_is_taken_where_there_is_no_whole_one(tmp_path, monkeypatch):
    monkeypatch.setitem(CATALOGUE, "msd", Entry(rows=6, columns=2, partial_file="msd_first1176.npz"))
    rng = np.random.default_rng(0)
    store(tmp_path / "msd_first1176.npz", X=rng.normal(size=(4, 2)), y=rng.normal(size=4))
    part = load("msd", directory=tmp_path)
    assert part.partial and part.X.shape == (4, 2) and part.class_names is None
    assert "only 4 of the 6 rows" in part.source and "only part of the set" in repr(part)
    store(tmp_path / "msd.npz", X=rng.normal(size=(6, 2)), y=rng.normal(size=6))
    whole = load("msd", directory=tmp_path)
    assert not whole.partial and whole.X.shape == (6, 2)
    store(tmp_path / "other" / "msd_first1176.npz", X=rng.normal(size=(6, 2)), y=rng.normal(size=6))
    with pytest.raises(ValueError, match=r"msd_first1176.*has 6 rows, but the whole set has 6"):
        load("msd", directory=tmp_path / "other")


@pytest.mark.parametrize(
    ("platform", "variable", "ends"),
    [
        ("linux", "XDG_CACHE_HOME", Path("place") / "l1lsmi"),
        ("win32", "LOCALAPPDATA", Path("place") / "l1lsmi"),
        ("linux", None, Path(".cache") / "l1lsmi"),
        ("win32", None, Path("AppData") / "Local" / "l1lsmi"),
        ("darwin", None, Path("Library") / "Caches" / "l1lsmi"),
    ],
)
def test_the_cache_is_where_the_system_wants_it(monkeypatch, platform, variable, ends):
    for name in ("L1LSMI_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    if variable:
        monkeypatch.setenv(variable, "place")
    assert _cache(None).parts[-len(ends.parts) :] == ends.parts
    monkeypatch.setenv("L1LSMI_CACHE", "mine")
    assert _cache(None) == Path("mine") and _cache("given") == Path("given")


# -- what is refused --------------------------------------------------------------------------


def test_unknown_names_and_folders(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="no data set name='whine': take one of abalone, bcancer"):
        load("whine")
    with pytest.raises(FileNotFoundError, match=r"directory='.*nowhere' is no folder"):
        load("wine", directory=tmp_path / "nowhere")
    monkeypatch.setenv("L1LSMI_DATA", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match=r"L1LSMI_DATA='.*gone' is no folder"):
        load("wine")


def test_a_set_that_is_nowhere(tmp_path):
    with pytest.raises(FileNotFoundError, match="download=False") as caught:
        load("wine", directory=tmp_path, download=False)
    for part in ("wine.npz", str(tmp_path), str(tmp_path / "cache"), "L1LSMI_DATA", "allow the download"):
        assert part in str(caught.value)
    for name in ("senseval2", "speech"):
        with pytest.raises(FileNotFoundError, match=f"{name}.npz .* nobody offers it .* directory"):
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
        "checksum": {**good, "sha256": np.array("0" * 64)},
    }[fault]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("no target", "it has no y"),
        ("nothing", "it has no X and no y"),
        ("missing value", "missing or infinite"),
        ("too few rows", "it has 100 rows and 13 columns, and 178 rows and 13 are expected"),
        ("too few columns", "it has 178 rows and 5 columns"),
        ("lengths differ", r"y of shape \(177,\)"),
        ("flat X", r"X of shape \(2314,\)"),
        ("two classes", "it has 2 classes, and 3 are expected"),
        ("labels not whole", "y of type float64, which do not fit classification"),
        ("text", "X of type <U"),
        ("objects", "pickled objects, which are never loaded"),
        ("names", "feature_names that are not 13 strings"),
        ("class names", "class_names that are not 3 strings"),
        ("groups", "groups that are not one whole number for each row"),
        ("checksum", "does not have the checksum that was written with it"),
    ],
)
def test_files_with_a_fault_are_refused_by_name(fault, reason, tmp_path):
    store(tmp_path / "wine.npz", **bad_arrays(fault, tmp_path))
    with pytest.raises(ValueError, match=f"wine.npz is no usable copy of wine: .*{reason}") as caught:
        load("wine", directory=tmp_path)
    assert "Replace it by a good copy" in str(caught.value)
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
    with pytest.raises(ValueError, match=r"wine\.npz is no usable copy of wine"):
        load("wine", directory=tmp_path)
    assert not (tmp_path / "sprung").exists()


def test_a_stored_set_that_was_changed_is_refused(tmp_path):
    store(tmp_path / "in" / "wine.npz", **wine_arrays())
    data = load("wine", directory=tmp_path / "in")
    path = tmp_path / "deep" / "cache" / "wine.npz"
    files.write(dataclasses.replace(data, source="somewhere"), path)
    again = load("wine", cache=path.parent, download=False)
    np.testing.assert_array_equal(again.X, data.X)
    assert again.feature_names == data.feature_names and again.source == f"file {path}, from somewhere"
    with np.load(path) as opened:
        arrays = {key: opened[key] for key in opened.files}
    arrays["X"][5, 5] += 1e-9
    store(path, **arrays)
    with pytest.raises(ValueError, match="does not have the checksum that was written with it"):
        load("wine", cache=path.parent, download=False)


def test_a_write_that_fails_leaves_nothing(tmp_path, monkeypatch):
    store(tmp_path / "in" / "wine.npz", **wine_arrays())
    data = load("wine", directory=tmp_path / "in")

    def full_disk(stream, **arrays):
        stream.write(b"half a file")
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez_compressed", full_disk)
    with pytest.raises(OSError, match="no space left"):
        files.write(data, tmp_path / "cache" / "wine.npz")
    assert list((tmp_path / "cache").iterdir()) == []


# -- the real files ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAPER)
def test_real_files_are_the_sets_of_the_paper(name, real):
    data, (columns, rows, percent) = load(name, directory=real, download=False), PAPER[name]
    assert data.partial == (name in PARTIAL)
    if data.partial:
        assert len(data.y) == PARTIAL[name] and "only" in data.source
    else:
        assert data.X.shape == (rows, columns) and "only" not in data.source
    assert np.isfinite(data.X).all() and len(data.feature_names) == data.X.shape[1]
    if percent:
        counts = np.unique(data.y, return_counts=True)[1]
        assert tuple(counts) == CATALOGUE[name].counts and len(data.class_names) == len(percent)
    assert (data.groups is not None) == bool(CATALOGUE[name].grouped_by)


def test_real_groups_hold_one_class_of_molecule_each(real):
    # A molecule is a musk or it is not: all of its shapes have one label.
    for name, n_molecules in (("musk1", 92), ("musk2", 102)):
        data = load(name, directory=real)
        pairs = {(g, label) for g, label in zip(data.groups.tolist(), data.y.tolist(), strict=True)}
        assert len(pairs) == len(set(data.groups.tolist())) == n_molecules
    isolet = load("isolet", directory=real)
    assert tuple(np.unique(isolet.groups, return_counts=True)[1]) == CATALOGUE["isolet"].recipe.blocks
