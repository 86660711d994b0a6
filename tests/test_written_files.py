"""Written files can be read again, writes are atomic, and missing libraries are named."""

import io
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi._atomic_file import check_writable, write_atomically
from l1lsmi.files import Column, DataTable, FileProblem, csv_text, read_table, write_table
from tests.small_tables import WRITERS, N, feather, npz, openpyxl, pa, parquet, text

pytestmark = pytest.mark.usefixtures("sandbox_disabled")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, write in WRITERS.items():
        write(folder / name)
    return folder


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".parquet", ".feather", ".xlsx"])
@pytest.mark.parametrize("name", WRITERS)
def test_written_files_can_be_read_again(files, tmp_path, name, suffix):
    table = read_table(files / name)
    path = tmp_path / f"out{suffix}"
    rows = np.arange(N - 1, 0, -2)
    write_table(table, ["state", "gene 1", "count"], path, rows=rows)
    again = read_table(path)
    assert again.names == ["state", "gene 1", "count"] and again.n_rows == len(rows)
    for column in again.columns:
        np.testing.assert_array_equal(column.values, table.column(column.name).values[rows])
    assert sorted(tmp_path.iterdir()) == [path]


# -- properties -------------------------------------------------------------------------------

CELLS = st.one_of(
    st.none(),
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["yes", "no", "TRUE", "2020-01-01", "1,5", "=1+1", "@x", "<script>", "1/2/2020"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6),
)
NAMES = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FFF, exclude_categories=["Cs", "Zs"]),
    min_size=1,
    max_size=5,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_strings_can_be_written_and_read(tmp_path_factory, data):
    names = data.draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    n_rows = data.draw(st.integers(2, 8))
    cells = [data.draw(st.lists(CELLS, min_size=n_rows, max_size=n_rows)) for _ in names]
    values = [np.array(column, dtype=object) for column in cells]
    table = DataTable([Column(name, "text", own, 0) for name, own in zip(names, values, strict=True)], n_rows)
    folder = tmp_path_factory.mktemp("any")
    write_table(table, names, folder / "a.csv")
    write_table(table, names, folder / "a.parquet")
    one, other = read_table(folder / "a.csv", delimiter=","), read_table(folder / "a.parquet")
    assert one.names == other.names == names and one.n_rows == n_rows
    for column, twin, own in zip(one.columns, other.columns, cells, strict=True):
        # A comma means thousands in one of the two.
        if not any("," in (cell or "") for cell in own):
            assert column.kind == twin.kind
            np.testing.assert_array_equal(column.values, twin.values)
        assert column.n_missing == column.missing.sum()
        assert column.numeric or column.kind in ("category", "text", "constant")
    # Writing what was read gives the same file again.
    write_table(one, names, folder / "b.csv")
    assert (folder / "b.csv").read_bytes() == (folder / "a.csv").read_bytes() or any(
        column.raw is None for column in one.columns
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=2, max_size=12))
def test_numbers_are_read_to_the_last_bit(values):
    column = text("a,b\n" + "\n".join(f"{value!r},{i}" for i, value in enumerate(values))).columns[0]
    expected = np.array(values)
    expected[np.isinf(expected)] = np.nan
    np.testing.assert_array_equal(column.values, expected)
    present = np.unique(expected[~np.isnan(expected)])
    kind = "empty" if not present.size else "constant" if present.size == 1 else "number"
    assert column.kind == ("yes/no" if present.tolist() == [0, 1] else kind)


# -- writing ----------------------------------------------------------------------------------


def test_values_are_written_as_in_the_file(tmp_path):
    table = text('id,a,when,flag\n007,1.50,2020-01-01,Yes\n008, NA ,"=1+1",no\n')
    write_table(table, ["flag", "id", "a", "when"], tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines == ["flag,id,a,when", "Yes,007,1.50,2020-01-01", 'no,008," NA ",=1+1']
    write_table(table, ["id", "when"], tmp_path / "out.xlsx")
    cell = openpyxl.load_workbook(tmp_path / "out.xlsx").active["B3"]
    assert cell.value == "=1+1" and cell.data_type == "s"
    assert read_table(tmp_path / "out.xlsx").column("id").values.tolist() == [7, 8]
    write_table(table, ["id", "a"], tmp_path / "out.parquet")
    assert str(parquet.read_table(tmp_path / "out.parquet").schema.field("id").type) == "int64"


def test_decimal_commas_are_written_as_points(tmp_path):
    table = text("a;b\n1,5;x\n2,25;y\n")
    write_table(table, ["a", "b"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,b\n1.5,x\n2.25,y\n"


def test_float32_is_written_with_its_shortest_digits(tmp_path):
    X = np.array([[0.1, 2], [0.25, 3]], dtype=np.float32)
    table = read_table(io.BytesIO(npz(X=X, n=np.array([1, 2]))))
    write_table(table, ["X[0]", "n"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "X[0],n\n0.1,1\n0.25,2\n"


def test_writes_are_atomic(tmp_path, monkeypatch):
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    table = read_table(path)
    (tmp_path / "link.csv").symlink_to(path)
    for name in ("in.csv", "link.csv"):
        with pytest.raises(FileProblem, match="is the file that the table was read from"):
            write_table(table, ["a"], tmp_path / name)
    for name, message in (("out.xml", "unknown format"), ("no/out.csv", "cannot be written .No such file")):
        with pytest.raises(FileProblem, match=message):
            write_table(table, ["a"], tmp_path / name)
    for names in ([], ["a", "a"]):
        with pytest.raises(ValueError, match="must have at least one name"):
            write_table(table, names, tmp_path / "out.csv")
    with pytest.raises(FileProblem, match="no column named 'c'"):
        write_table(table, ["c"], tmp_path / "out.csv")

    (tmp_path / "out.csv").write_text("old")

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(FileProblem, match="No space left"):
        write_table(table, ["a"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "link.csv", "out.csv"]


#: Ends in the middle of a write, as by SIGKILL: the system ends a process whose file grows too large.
KILLED = """
import resource, signal, sys
from l1lsmi._atomic_file import write_atomically
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
write_atomically(sys.argv[1], bytes(1 << 20))
"""
#: Is terminated between the write and its end, on a file system where every file has a name.
TERMINATED = """
import os, signal, sys
from l1lsmi import _atomic_file
del os.O_TMPFILE
os.replace = lambda *names: signal.raise_signal(signal.SIGTERM)
_atomic_file.write_atomically(sys.argv[1], b"new")
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="a system without files that have no name")
@pytest.mark.parametrize(
    ("code", "number"), [(KILLED, "SIGXFSZ"), (TERMINATED, "SIGTERM")], ids=["kill", "term"]
)
def test_a_process_that_ends_leaves_no_part_of_a_file(tmp_path, code, number):
    path = tmp_path / "out.csv"
    path.write_text("old")
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert run.returncode == -signal.Signals[number], run
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]
    assert path.read_text() == "old"


def test_written_files_have_the_permissions_of_new_files(tmp_path):
    (tmp_path / "usual.csv").touch()
    write_atomically(tmp_path / "out.csv", b"a")
    assert (tmp_path / "out.csv").stat().st_mode == (tmp_path / "usual.csv").stat().st_mode


def read_arrow(array):
    stream = io.BytesIO()
    feather.write_feather(pa.table({"x": array}), stream, compression="uncompressed")
    return read_table(io.BytesIO(stream.getvalue()))


def test_types_that_some_formats_do_not_have(tmp_path):
    zone = pa.array([0, 86_400_000]).cast(pa.timestamp("ms", "No/Where"))
    far = pa.array([2**62, 2**62 + 1]).cast(pa.timestamp("s"))
    days = pa.array([2**31 - 1, 5], pa.int32()).cast(pa.date32())
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array(["p", "q"]))
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), pa.array(["u", None]))
    for array, suffix, expected in (
        (zone, ".csv", ["1970-01-01 00:00:00.000Z", "1970-01-02 00:00:00.000Z"]),
        (zone, ".xlsx", None),
        (far, ".xlsx", None),
        (days, ".xlsx", None),
        (runs, ".parquet", ["p", "q", "q"]),
        (runs, ".csv", ["p", "q", "q"]),
        (dictionary, ".parquet", ["u", None, "u"]),
    ):
        write_table(read_arrow(array), ["x"], tmp_path / f"out{suffix}")
        if suffix == ".csv":
            assert (tmp_path / "out.csv").read_text().split("\n")[1:-1] == expected
        elif suffix == ".parquet":
            assert parquet.read_table(tmp_path / "out.parquet")["x"].to_pylist() == expected
        else:
            sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
            assert all(isinstance(sheet[cell].value, str) for cell in ("A2", "A3")), array.type
    union = pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["a", "b"])])
    span = pa.array([pa.MonthDayNano([1, 2, 3])] * 2)
    for array in (union, span):
        with pytest.raises(FileProblem, match=r"no.parquet cannot hold .* write a .feather or .csv file"):
            write_table(read_arrow(array), ["x"], tmp_path / "no.parquet")
        assert not (tmp_path / "no.parquet").exists()


def test_views_are_written_as_plain_text_and_bytes(tmp_path):
    """Not every reader of Parquet knows views, nor does pyarrow before version 21 write them."""
    for kind, expected in ((pa.string_view(), pa.large_string()), (pa.binary_view(), pa.large_binary())):
        array = pa.array(["u", None, "a longer text"]).cast(expected).cast(kind)
        write_table(read_arrow(array), ["x"], tmp_path / "out.parquet")
        again = parquet.read_table(tmp_path / "out.parquet")["x"]
        assert again.type == expected and again.to_pylist() == array.to_pylist()


def test_file_names_of_the_maximal_length(tmp_path):
    table = text("a,b\n1,2\n3,4\n")
    name = "\U0001f600" * 62 + ".csv"  # 252 bytes
    write_table(table, ["a"], tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    for path in (tmp_path / ("x" * 300 + ".csv"), tmp_path / "no" / "a.csv"):
        with pytest.raises(OSError, match=r"No such file|too long") as caught:
            check_writable(path)
        assert caught.value.filename == str(path)
    check_writable(tmp_path / "new.csv")
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_text_that_excel_cannot_hold(tmp_path):
    for string in ("a\x07b", "x" * 40_000):
        table = DataTable([Column("a", "text", np.array([string, "b"], dtype=object), 0)], 2)
        with pytest.raises(FileProblem, match=r"write a [.]csv file instead"):
            write_table(table, ["a"], tmp_path / "out.xlsx")
    assert list(tmp_path.iterdir()) == []


# -- libraries --------------------------------------------------------------------------------


def test_importing_loads_no_library():
    # Libraries that scikit-learn loads are not counted.
    code = "import sys, l1lsmi; known = {*sys.modules}; import l1lsmi.files; print(*({*sys.modules} - known))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {module.split(".")[0] for module in run.stdout.split()}
    assert "l1lsmi" in loaded and not loaded & {"pyarrow", "pandas", "openpyxl", "h5py", "anndata"}


@pytest.mark.parametrize(
    ("missing", "name", "extra"),
    [("openpyxl", "table.xlsx", "excel"), ("h5py", "new.mat", "h5ad"), ("anndata.io", "table.h5ad", "h5ad")],
)
def test_a_missing_library_is_named(files, monkeypatch, missing, name, extra):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(FileProblem, match=rf"not installed: pip install 'l1lsmi\[{extra}\]'"):
        read_table(files / name)


def test_a_missing_pyarrow_is_named(files, monkeypatch):
    table = read_table(files / "table.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FileProblem, match=r"pip install 'l1lsmi\[cli\]'"):
        read_table(files / "table.csv")
    with pytest.raises(FileProblem, match=r"pip install 'l1lsmi\[cli\]'"):
        csv_text(table, ["state"])


def test_names_that_the_locale_cannot_decode(tmp_path):
    code = (
        "import sys; from l1lsmi._atomic_file import check_writable, write_atomically; path = sys.argv[1]; "
        "check_writable(path); write_atomically(path, b'1')"
    )
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    names = ["ö.csv", "ö" * 90 + ".csv"]
    for name in names:
        path = str(tmp_path / name).encode()
        subprocess.run([sys.executable, "-c", code, path], env={**os.environ, **ascii_only}, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
