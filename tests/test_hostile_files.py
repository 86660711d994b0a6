"""Files that are damaged, of another format or hostile: an error of one sentence, and nothing is executed."""

import gzip
import io
import os
import pickle
import string
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi.files import FileProblem, _memory, prepare, read_table, write_table
from l1lsmi.files.problem import file_problems

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
h5py = pytest.importorskip("h5py")
scipy_io = pytest.importorskip("scipy.io")

pytestmark = pytest.mark.usefixtures("sandbox_disabled")

SMALL = pa.table({"a": [1.0, 2.0, 3.0], "y": ["u", "v", "u"]})


def refusal(source, **options) -> str:
    with pytest.raises(FileProblem) as caught:
        read_table(source, **options)
    return one_sentence(caught.value)


def one_sentence(problem) -> str:
    message = str(problem)
    assert message.endswith((".", "?")) and message.isprintable() and "Traceback" not in message, message
    return message


def written(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            # Without the time: names of tests have the bytes.
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def saved(function, *args, **named):
    stream = io.BytesIO()
    function(stream, *args, **named)
    return stream.getvalue()


class Harm:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


# -- text -------------------------------------------------------------------------------------

TEXTS = {
    "empty": ("", "is empty"),
    "blank": (" \n\n  \r\n", "is empty"),
    "a byte order mark": (b"\xef\xbb\xbf", "is empty"),
    "names only": ("a,b\n\n", "no values below"),
    "short row": ("a,b,c\n1,2,3\n4,5\n", "has 2 values in line 3, where 3 are expected"),
    "short first row": ("a,b,c\n1\n", "has 1 value in line 2, where 3 are expected"),
    "long row": ('a,b\n1,"2\n3"\n\n4,5\n6,7,8\n', "has 3 values in line 6, where 2 are expected"),
    "a title above": ("Results of 2020\na,b,c\n1,2,3\n", "has 3 values in line 2, where 1 are expected"),
    "open quote": ('a,b\n1,2\n"3,4\n5,6\n', "a quote is not closed"),
    "open quote in names": ('"a,b\n1,2\n3,4\n', "check that every quote is closed"),
    "twice": ("a,b,a,c,a,b\n1,2,3,4,5,6\n", "has 3 columns named 'a' (1 other name repeated too)"),
    "twice and numbers": ("1,1,2\n1,2,3\n", "has 2 columns named '1'"),
    "no name inside": ("a,,c\n1,2,3\n4,5,6\n", "values without a name in 1 column, first in column 2"),
    "no names": (",,\n1,2,3\n", "without a name"),
    "nothing": (",\n,\n", "neither names of columns nor values"),
    "zeros": (b"a,b\n1,\0\n", "not a text file"),
    "junk": (bytes(range(256)) * 20, "not a text file"),
    "parquet": (b"PAR1\0\0\0", "it looks like parquet, so pass format='parquet'"),
    "workbook": (b"PK\x03\x04" + bytes(50), "damaged zip archive"),
    "half of UTF-16": (b"\xff\xfea\0b", "UTF-16"),
    "broken gzip": (gzip.compress(b"a,b\n1,2\n" * 99)[:-20], "damaged gzip"),
    "line break in a name": ('"a\nb","a\nb"\n1,2\n', r"2 columns named 'a\nb'"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts_that_are_refused(tmp_path, case):
    data, expected = TEXTS[case]
    path = written(tmp_path, "in.csv", data)
    message = refusal(path)
    assert expected in message and message.startswith(str(path))


@pytest.mark.parametrize(
    ("data", "delimiter", "expected"),
    [
        ("a;b\n1;2\n", ",", "a single column named 'a;b' when ',' is the delimiter"),
        ("a;b\n1;2\n", ",", "pass another delimiter, perhaps ';'"),
        ("a b c\n1 2 3\n4 5 6", None, "perhaps ' '"),
        ("a,b\n1,2\n", "::", "The delimiter '::' cannot be used"),
        ("a,b\n1,2\n", '"', "cannot be used"),
        ("a,b\n1,2\n", "é", "cannot be used"),
    ],
)
def test_wrong_delimiters(tmp_path, data, delimiter, expected):
    assert expected in refusal(written(tmp_path, "in.csv", data), delimiter=delimiter)


def test_options_that_a_format_does_not_have(tmp_path):
    path = written(tmp_path, "in.csv", "a,b\n1,2\n")
    assert "which has no sheet" in refusal(path, sheet="one")
    assert "which has no array" in refusal(path, array="X")
    assert "which has no delimiter" in refusal(written(tmp_path, "in.npz", b"PK"), delimiter=",")


NAMES = ["<script>alert(1)</script>", "=cmd|' /C calc'!A0", "a\nb", "é" * 300, "../../x", "{0}"]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_data(tmp_path, name):
    table = read_table(io.BytesIO(f'"{name}",y\n1,u\n2,v\n3,u\n'.encode()))
    assert table.names == [name, "y"]
    assert prepare(table, "y").feature_names == (name,)
    write_table(table, [name], tmp_path / "out.csv")
    assert read_table(tmp_path / "out.csv", delimiter=",").names == [name]
    with pytest.raises(FileProblem) as caught:
        prepare(table, name + "?")
    one_sentence(caught.value)


# -- paths ------------------------------------------------------------------------------------


def test_files_that_cannot_be_opened(tmp_path, monkeypatch):
    assert "does not exist" in refusal(tmp_path / "no.csv")
    assert "is a folder" in refusal(tmp_path)
    assert "does not exist" in refusal(str(tmp_path / "line\nbreak.csv"))
    assert "cannot be opened" in refusal("nul\0.csv")
    assert "cannot be opened" in refusal("x" * 5000 + ".csv")
    # Root may read everything, so the error is simulated.
    path = written(tmp_path, "in.csv", "a,b\n1,2\n")

    def refuse(*args, **named):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert "permission denied" in refusal(path)


def test_an_endless_stream_is_refused(monkeypatch):
    monkeypatch.setattr(_memory, "available_memory", lambda: 10**8)

    class Endless(io.RawIOBase):
        def read(self, size=-1):
            return b"1," * (size // 2)

    assert "does not fit into memory" in refusal(Endless())


@pytest.mark.parametrize("suffix", [".xls", ".pkl", ".pickle", ".npy", ".json", ".ods", ".rds", ".zip"])
def test_formats_that_are_not_read(tmp_path, suffix):
    assert str(tmp_path) in refusal(written(tmp_path, f"in{suffix}", "abc"))


def test_formats_that_are_not_read_are_known_by_their_bytes():
    assert "never loaded" in refusal(io.BytesIO(pickle.dumps({"a": 1})))
    assert "numpy.savez" in refusal(io.BytesIO(saved(np.save, np.eye(2))))
    assert "old Excel format" in refusal(io.BytesIO(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99)))
    assert "neither .npz nor .xlsx" in refusal(io.BytesIO(zipped(readme="x")))


# -- nothing is unpickled ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["in.npz", "in.dat", "in.csv"])
def test_pickled_arrays_are_refused(tmp_path, name):
    mark = tmp_path / "mark"
    array = np.array([Harm(mark), 2], dtype=object)
    path = written(tmp_path, name, saved(np.savez, X=np.eye(2), y=array))
    message = refusal(path)
    assert ("pickled objects in 'y.npy'" in message) == (name != "in.csv")
    assert not mark.exists()
    # The payload works: unpickling it creates the mark.
    np.load(path, allow_pickle=True)["y"]
    assert mark.exists()


def test_a_pickle_instead_of_an_array(tmp_path):
    mark = tmp_path / "mark"
    harm = pickle.dumps(Harm(mark))
    refusal(written(tmp_path, "in.npz", zipped(**{"X.npy": harm})))
    refusal(written(tmp_path, "in.mat", harm))
    assert not mark.exists()


@pytest.mark.parametrize("version", ["5", "4"])
def test_objects_of_matlab_are_not_unpickled(tmp_path, version):
    mark = tmp_path / "mark"
    harm = pickle.dumps(Harm(mark), protocol=0).decode("latin-1")
    path = tmp_path / "in.mat"
    scipy_io.savemat(path, {"X": np.eye(2), "y": np.array([harm, harm])}, format=version)
    read_table(path)
    assert not mark.exists()


def test_attributes_and_types_of_hdf5_are_not_unpickled(tmp_path):
    mark = tmp_path / "mark"
    with h5py.File(tmp_path / "in.h5ad", "w") as file:
        file["X"] = np.void(pickle.dumps(Harm(mark)))
        file["obs"] = file["var"] = np.void(pickle.dumps(Harm(mark)))
    refusal(tmp_path / "in.h5ad")
    assert not mark.exists()


# -- archives and matrices --------------------------------------------------------------------


def header(shape, kind="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"PK\x03\x04 no", "cannot be read as a NumPy archive"),
        (b"junk", "cannot be read as a NumPy archive"),
        (zipped(readme="x"), "a zip archive without arrays"),
        (zipped(**{"X.npy": b""}), "cannot be read as a NumPy archive"),
        (zipped(**{"X.npy": header((10**9, 10**9))}), "claims an array of shape"),
        (zipped(**{"X.npy": header((2, 2)) + bytes(31)}), "claims an array of shape"),
        (zipped(**{"X.npy": header((2, 2), "|O") + bytes(99)}), "pickled objects"),
        (saved(np.savez, a=np.array(1.0)), "no matrix and no columns"),
        (saved(np.savez, a=np.empty((0, 3))), "no matrix and no columns"),
        (saved(np.savez, X=np.eye(3) * 1j, y=np.arange(3)), None),
        (saved(np.savez, y=np.arange(3) * 1j), "neither numbers nor text in 'y'"),
        (saved(np.savez, y=np.zeros(3, "V8")), "neither numbers nor text in 'y'"),
        (saved(np.savez, X=np.eye(3), feature_names=np.array(["a", "b", "a"])), "2 columns named 'a'"),
        (saved(np.savez_compressed, X=np.eye(99))[:-300], "cannot be read as a NumPy archive"),
    ],
)
def test_damaged_archives(tmp_path, data, expected):
    path = written(tmp_path, "in.npz", data)
    if expected is None:
        assert read_table(path).names == ["y"]
    else:
        assert expected in refusal(path)


def test_what_does_not_fit_into_memory_is_not_decompressed(tmp_path, monkeypatch):
    from scipy.sparse import csc_matrix

    monkeypatch.setattr(_memory, "available_memory", lambda: 1 << 20)
    bomb = saved(np.savez_compressed, X=np.zeros((1000, 1000)))
    assert len(bomb) < 20_000
    sparse = csc_matrix((1000, 1000))
    many = pa.table({"a": pa.array(["x"] * 300_000).dictionary_encode()})
    for name, data in {
        "in.npz": bomb,
        "in.mat": saved(scipy_io.savemat, {"X": np.zeros((1000, 1000))}, do_compression=True),
        "sparse.mat": saved(scipy_io.savemat, {"X": sparse}),
        "in.parquet": saved(lambda stream: parquet.write_table(many, stream)),
        "in.xlsx": zipped(**{"xl/sheet.xml": " " * (2 << 20)}),
    }.items():
        assert "does not fit into memory" in refusal(written(tmp_path, name, data)), name
    with h5py.File(tmp_path / "new.mat", "w", userblock_size=512) as file:
        file.create_dataset("X", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
    with h5py.File(tmp_path / "in.h5ad", "w") as file:
        file.create_dataset("X", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
        file.create_group("obs"), file.create_group("var")
    for name in ("new.mat", "in.h5ad"):
        assert "does not fit into memory" in refusal(tmp_path / name), name
    assert "does not fit into memory" in refusal(io.BytesIO(gzip.compress(b"1,2\n" * 10**6)))


def test_cells_that_hold_themselves_or_matrices(tmp_path):
    path = tmp_path / "in.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = np.eye(3)
        file["#refs#/0"] = np.eye(9)
        for name in ("itself", "matrix"):
            cell = file.create_dataset(name, shape=(1, 3), dtype=h5py.ref_dtype)
            cell.attrs["MATLAB_class"] = np.bytes_("cell")
            cell[:] = cell.ref if name == "itself" else file["#refs#/0"].ref
    table = read_table(path)
    assert len(table.names) == 3 and "'itself', 'matrix'" in table.notes[-1]


def test_files_of_matlab_without_a_table(tmp_path):
    path = tmp_path / "in.mat"
    for content in ({"s": {"a": 1}}, {"x": 1.0}, {"X": np.empty((0, 0))}):
        scipy_io.savemat(path, content)
        assert "no matrix and no columns" in refusal(path)
    for junk in (b"MATLAB 5.0 MAT-file" + bytes(200), b"junk" * 99, b"\x89HDF\r\n\x1a\n" + bytes(99)):
        path.write_bytes(junk)
        refusal(path)


@pytest.mark.parametrize("suffix", [".mat", ".h5ad"])
@pytest.mark.parametrize("way", ["external link", "soft link", "external storage", "virtual"])
def test_hdf5_reaches_no_other_file(tmp_path, suffix, way):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = np.eye(3)
    with h5py.File(tmp_path / f"in{suffix}", "w") as file:
        if way == "external link":
            file["X"] = h5py.ExternalLink(str(secret), "X")
        elif way == "soft link":
            file["X"] = h5py.SoftLink("/elsewhere")
        elif way == "external storage":
            file.create_dataset("X", shape=(3, 3), dtype="f8", external=[(str(secret), 0, 72)])
        else:
            layout = h5py.VirtualLayout((3, 3), "f8")
            layout[:] = h5py.VirtualSource(str(secret), "X", shape=(3, 3))
            file.create_virtual_dataset("X", layout)
    assert "refers to data outside of itself at 'X'" in refusal(tmp_path / f"in{suffix}")


def test_files_that_are_not_anndata(tmp_path):
    path = tmp_path / "in.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(3)
    assert "has no obs and no var" in refusal(path)
    assert "cannot be read as" in refusal(written(tmp_path, "junk.h5ad", b"junk" * 99))


@pytest.mark.parametrize(
    "error",
    [SystemError("<cyfunction f at 0x7f9> returned a result"), TypeError("no method for <class 'a.B'>")],
)
def test_objects_of_libraries_are_not_named(error):
    with pytest.raises(FileProblem, match=r"in another format\.$"), file_problems("in.h5ad", "AnnData"):
        raise error
    with pytest.raises(FileProblem, match=r"in another format \(bad heap\)\.$"), file_problems("in", "HDF5"):
        raise SystemError("<cyfunction f at 0x7f9> returned a result") from OSError("bad heap")


def test_anndata_whose_genes_share_a_name(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    cells = pandas.DataFrame({"g": [1, 2, 3]}, index=list("abc"))
    genes = pandas.DataFrame(index=["g", "h"])
    anndata.AnnData(np.eye(3)[:, :2], obs=cells, var=genes).write_h5ad(tmp_path / "in.h5ad")
    assert "2 columns named 'g'" in refusal(tmp_path / "in.h5ad")


# -- tables of Arrow and Excel ----------------------------------------------------------------


def test_damaged_tables_of_arrow(tmp_path):
    good = saved(lambda stream: parquet.write_table(SMALL, stream))
    for cut in (4, 20, len(good) // 2, len(good) - 5):
        assert "Parquet" in refusal(written(tmp_path, "in.parquet", good[:cut])) or cut < 4
    assert "cannot be read" in refusal(written(tmp_path, "in.feather", b"ARROW1" + bytes(20)))
    assert "cannot be read" in refusal(written(tmp_path, "in.arrow", b"\xff\xff\xff\xff" + bytes(20)))
    assert "cannot be read" in refusal(written(tmp_path, "text.parquet", "a,b\n1,2\n"))
    empty = saved(lambda stream: parquet.write_table(SMALL.slice(0, 0), stream))
    assert "has 0 rows and 2 columns" in refusal(written(tmp_path, "in.parquet", empty))
    twice = pa.table([[1], [2]], names=["a", "a"])
    data = saved(lambda stream: parquet.write_table(twice, stream))
    assert "2 columns named 'a'" in refusal(written(tmp_path, "in.parquet", data))


@pytest.mark.parametrize(
    "metadata", ["[1]", '"x"', "no", "[" * 10**5, '{"index_columns": null}', '{"index_columns": "y"}']
)
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_invalid_metadata_of_pandas_is_ignored(tmp_path, metadata, suffix):
    feather = pytest.importorskip("pyarrow.feather")
    path = tmp_path / f"in{suffix}"
    write = parquet.write_table if suffix == ".parquet" else feather.write_feather
    write(SMALL.replace_schema_metadata({b"pandas": metadata.encode()}), path)
    table = read_table(path)
    assert table.names == ["a", "y"] and table.column("y").feature


def test_lone_surrogates_are_replaced(tmp_path):
    data = saved(
        np.savez,
        X=np.eye(4)[:, :2],
        feature_names=np.array(["\ud800", "b"]),
        y=np.array(["\ud800", "v", "v", "v"]),
    )
    table = read_table(written(tmp_path, "in.npz", data))
    assert table.names == ["\ufffd", "b", "y"]
    assert table.column("y").values.tolist() == ["\ufffd", "v", "v", "v"]


@pytest.mark.parametrize("name", ["y", "feature_names"])
@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("width", [1, 2])
def test_characters_that_do_not_exist_are_refused(tmp_path, name, order, width):
    points = np.full((4, width), 0x61, dtype=f"{order}u4")
    points[0, 0] = 0x110000
    words = points.view(f"{order}U{width}").ravel()
    arrays = {"X": np.arange(16.0).reshape(4, 4), "y": np.arange(4), name: words}
    assert f"array '{name}'" in refusal(written(tmp_path, "in.npz", saved(np.savez, **arrays)))


def test_a_long_cell_is_read(tmp_path):
    import csv

    before = csv.field_size_limit()
    table = read_table(written(tmp_path, "in.csv", "a,y\n" + "x" * 200_000 + ",1\nz,2\n"))
    assert len(table.column("a").values[0]) == 200_000 and csv.field_size_limit() == before


def test_damaged_workbooks(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    for data in (b"junk", b"PK\x03\x04" + bytes(50), zipped(readme="x"), zipped(**{"xl/workbook.xml": "<x"})):
        assert "cannot be read as an Excel workbook" in refusal(written(tmp_path, "in.xlsx", data))
    workbook = openpyxl.Workbook()
    workbook.save(tmp_path / "in.xlsx")
    assert "no sheet with values" in refusal(tmp_path / "in.xlsx")
    assert "no values in sheet 'Sheet'" in refusal(tmp_path / "in.xlsx", sheet="Sheet")
    workbook.active.append(["a", "b"])
    workbook.save(tmp_path / "in.xlsx")
    assert "no values below" in refusal(tmp_path / "in.xlsx")
    workbook.active.append([1, 2, 3])
    workbook.save(tmp_path / "in.xlsx")
    assert "without a name in 1 column, first in column 3" in refusal(tmp_path / "in.xlsx")


FLIPPED = {".parquet": "parquet", ".feather": "feather", ".npz": "npz", ".csv": "csv", ".xlsx": "excel"}


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The bytes of a valid file of each format, written once as workbooks contain the time."""
    folder = tmp_path_factory.mktemp("good")
    table = read_table(io.BytesIO(b"a,b,y\n1,2,u\n2,3,v\n3,4,u\n"))
    for suffix in (".parquet", ".feather", ".xlsx", ".csv"):
        write_table(table, table.names, folder / f"in{suffix}")
    np.savez(folder / "in.npz", X=np.eye(4), y=np.arange(4))
    return {path.suffix: path.read_bytes() for path in folder.iterdir()}


def check_flipped(data, good, format):
    """Replace some bytes of a file, which then gives a table or a message."""
    changed = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    try:
        table = read_table(io.BytesIO(changed), format=format)
    except FileProblem as problem:
        one_sentence(problem)
    else:
        assert all(len(column.values) == table.n_rows for column in table.columns)


@pytest.mark.parametrize("suffix", FLIPPED)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_a_flipped_byte_gives_a_table_or_a_sentence(good, suffix, data):
    check_flipped(data, good[suffix], FLIPPED[suffix])


@pytest.mark.parametrize("change", [0, 4, 0x44])
def test_a_damaged_schema(good, change):
    """Whether values repeat is changed: sizes in the metadata no longer fit, and pyarrow can abort on it."""
    for name in (b"a", b"b", b"y"):
        optional, data = b"\x25\x02\x18\x01" + name, good[".parquet"]
        assert data.count(optional) == 1
        changed = data.replace(optional, b"\x25" + bytes([change]) + b"\x18\x01" + name)
        with pytest.raises(FileProblem, match="cannot be read as Parquet") as caught:
            read_table(io.BytesIO(changed), format="parquet")
        one_sentence(caught.value)


def test_names_that_are_no_text(good):
    name = b"\x01\x00\x00\x00b\x00"
    assert name in good[".feather"]
    changed = good[".feather"].replace(name, b"\x01\x00\x00\x00\xf5\x00")
    with pytest.raises(FileProblem, match="cannot be read as Feather") as caught:
        read_table(io.BytesIO(changed), format="feather")
    one_sentence(caught.value)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(string.printable, max_size=100).map(str.encode)))
def test_any_bytes_give_a_table_or_a_sentence(data):
    try:
        table = read_table(io.BytesIO(data))
    except FileProblem as problem:
        one_sentence(problem)
    else:
        assert table.n_rows > 0 and len(table.columns) > 0
