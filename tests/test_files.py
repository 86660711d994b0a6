"""Reading tables: every format gives the same numbers, and the kind of every column is inferred."""

import datetime
import gc
import hashlib
import io
import sys
from decimal import Decimal

import numpy as np
import pytest

from l1lsmi.files import DataTable, FileProblem, prepare, read_table, write_table
from tests.small_tables import (
    GENES,
    LABELS,
    WRITERS,
    N,
    cells_of,
    feather,
    h5py,
    npz,
    openpyxl,
    pa,
    scipy_io,
    text,
)

pytestmark = pytest.mark.usefixtures("sandbox_disabled")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, write in WRITERS.items():
        write(folder / name)
    return folder


def kinds(table: DataTable) -> list[str]:
    return [column.kind for column in table.columns]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("by", ["name", "bytes", "standard input"])
def test_every_format_gives_the_same_numbers(files, name, by, monkeypatch):
    data = (files / name).read_bytes()
    source = files / name
    if by == "bytes":
        source = io.BytesIO(data)
    elif by == "standard input":
        source = "-"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    table = read_table(source)
    assert table.sha256 == hashlib.sha256(data).hexdigest()
    assert table.source == {"name": str(source), "bytes": "the stream"}.get(by, by)
    prepared = prepare(table, "state")
    values = [column.to_numpy() for column in prepared.X.columns]
    np.testing.assert_array_equal(np.column_stack(values), np.column_stack([*GENES.values()]))
    assert {column.type for column in prepared.X.columns} == {pa.float64()}
    np.testing.assert_array_equal(prepared.y, LABELS)
    assert prepared.feature_names == tuple(GENES) == tuple(prepared.X.column_names)
    assert prepared.task == "classification" and prepared.target == "state"
    np.testing.assert_array_equal(prepared.row_numbers, np.arange(N))
    assert table.column("gene 1").n_missing == 2


def test_formats_without_a_signature_are_text():
    assert text("a,b\n1,2\n3,4").format == "csv"
    assert text("a\tb\n1\t2\n3\t4", format="tsv").format == "tsv"


# -- dialects of CSV ----------- ----------------------------------------------------------------


def test_row_names_as_r_writes_them():
    quoted = text('"","a b","y"\n"1",1.5,"u"\n"2",2.5,"v"\n"3",3.5,"u"\n')
    unquoted = text('"a b","y"\n"1",1.5,"u"\n"2",2.5,"v"\n"3",3.5,"u"\n')
    for table in (quoted, unquoted):
        assert table.names == ["", "a b", "y"] and not table.columns[0].feature
        assert "row names" in table.notes[0]
        prepared = prepare(table, "y")
        assert prepared.feature_names == ("a b",)
        assert prepared.columns[0].used_as == "left out: describes the rows"
        assert prepare(table, "y", keep=["", "a b"]).feature_names == ("", "a b")


def test_a_delimiter_at_the_end_of_rows_is_no_column():
    for table in (text("a,b,\n1,2,\n3,4,\n"), text("a,b\n1,2,\n3,4,\n")):
        assert table.names == ["a", "b"] and table.columns[1].values.tolist() == [2, 4]


def test_decimal_commas_are_read_where_the_comma_is_no_delimiter():
    table = text("a;b;c\n1,5;1,5,2;+2\n-,25;x;3,5e2\n2;y;\n")
    np.testing.assert_array_equal(table.columns[0].values, [1.5, -0.25, 2])
    np.testing.assert_array_equal(table.columns[2].values, [2, 350, np.nan])
    assert table.notes == () and table.decimal == "," and table.columns[1].kind == "text"
    notes = prepare(text("a;b;c;y\n1,5;1,5,2;+2;u\n-,25;x;3,5e2;u\n2;y;;v\n"), "y").notes
    assert notes[0] == "2 columns with a comma as the decimal sign: 'a', 'c'."


def test_commas_between_thousands():
    table = text('a,b,c\n"1,234.5","0,125",1\n"-12,345,678","0,250",2\n7,"0,375",3\n')
    np.testing.assert_array_equal(table.columns[0].values, [1234.5, -12345678, 7])
    # A leading zero is no thousands: it is a decimal comma.
    np.testing.assert_array_equal(table.columns[1].values, [0.125, 0.25, 0.375])
    # What can be both is between thousands, unless the delimiter says that commas are decimal signs.
    np.testing.assert_array_equal(text('a,b\n"1,234",1\n7,2').columns[0].values, [1234, 7])
    np.testing.assert_array_equal(text("a;b\n1,234;1\n7;2").columns[0].values, [1.234, 7])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(encoding):
    table = read_table(io.BytesIO("größe,y\n1,ä\n2,ö\n3,ä\n".encode(encoding)))
    assert table.names == ["größe", "y"] and table.columns[1].values.tolist() == ["ä", "ö", "ä"]
    assert any("Latin-1" in note for note in table.notes) == (encoding == "latin-1")


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_ends_of_lines_and_empty_lines(ending):
    table = text(ending.join(["", "a,b", "1,2", "", "3,4", "", "   ", ""]))
    assert table.names == ["a", "b"]
    assert [column.values.tolist() for column in table.columns] == [[1, 3], [2, 4]]


def test_quotes_with_delimiters_quotes_and_new_lines_in_them():
    table = text('"a,b","c ""d""\n e",y\n"1","x, ""y""\nz",3\n2,"x, ""y""\nz",4\n5,w,4')
    assert table.names == ["a,b", 'c "d"\n e', "y"]
    assert table.columns[1].values.tolist() == ['x, "y"\nz'] * 2 + ["w"]


def test_missing_values():
    words = ["", "NA", "N/A", "null", "?", "NaN", " NA ", "#N/A", "<NA>"]
    table = text("a,b,c\n" + "\n".join(f"{w},{w},{w}" for w in words) + "\n1,u,2\n2,v,3\n3,u,4")
    assert [column.n_missing for column in table.columns] == [9, 9, 9]
    assert kinds(table) == ["number", "category", "number"]
    # Na (sodium) and None are strings.
    assert text("a,b\nNa,None\nK,x\nNa,None").columns[0].n_missing == 0


def test_numbers_with_spaces_signs_and_exponents():
    table = text("a,b\n 1.5 ,.5\n+2,-1.\n1e3,007\n")
    np.testing.assert_array_equal(table.columns[0].values, [1.5, 2, 1000])
    np.testing.assert_array_equal(table.columns[1].values, [0.5, -1, 7])


def test_infinite_values_are_missing():
    table = text("a,b\n1,inf\n2,-Infinity\n3,5\n4,6")
    assert table.column("b").n_missing == 2
    assert table.notes == ("1 column with infinite values, which count as missing: 'b'.",)
    again = read_table(io.BytesIO(npz(X=np.array([[1, np.inf], [2, 3], [4, 5]]))))
    assert again.columns[1].n_missing == 1 and again.columns[1].raw[0] == np.inf


@pytest.mark.parametrize("spelling", ["tab", "\\t", "\t"])
def test_delimiters_that_are_given(spelling):
    table = text("a,x\tb\n1\t2\n3\t4", delimiter=spelling)
    assert table.names == ["a,x", "b"]
    assert text("a b c\n1 2 3\n4 5 6", delimiter=" ").names == ["a", "b", "c"]


def test_a_header_of_numbers_gets_a_note():
    table = text("5.1,3.5,1\n4.9,3.0,2\n4.7,3.2,1")
    assert "looks like data" in table.notes[0]
    with pytest.raises(FileProblem, match="looks like data"):
        prepare(table, "species")
    assert text("400,402,y\n1,2,3\n2,3,4").notes == ()


def test_a_wide_table_is_read_in_one_piece():
    m = 5000
    rows = [",".join(f"g{j}" for j in range(m))] + [",".join(["1.25"] * (m - 1) + [str(i)]) for i in range(4)]
    table = text("\n".join(rows))
    assert len(table.columns) == m and kinds(table)[:2] == ["constant", "constant"]
    assert table.columns[-1].values.tolist() == [0, 1, 2, 3]


# -- kinds ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ("1 2 3 4", "number"),
        ("0 1 1 0", "yes/no"),
        ("0 1 NA 0", "yes/no"),
        ("yes no no yes", "yes/no"),
        ("TRUE FALSE FALSE TRUE", "yes/no"),
        ("Y N n y", "yes/no"),
        ("yes maybe no no", "category"),
        ("u v u w", "category"),
        ("u v w x", "text"),
        ("u v NA NA", "category"),
        ("2020-01-01 2020-02-29 NA 1969-12-31", "date"),
        ("31.12.2020 1.1.2021 1.1.2021 1.1.2021", "date"),
        ("31/12/2020 1/1/2021 1/1/2021 1/1/2021", "date"),
        ("12/31/2020 1/1/2021 1/1/2021 1/1/2021", "date"),
        ("1/2/2020 3/4/2021 1/1/2021 1/1/2021", "category"),
        ("2020-01-01 2020-13-01 u u", "category"),
        ("NA ? NA NA", "empty"),
        ("7 7 NA 7", "constant"),
        ("u u NA u", "constant"),
    ],
)
def test_kinds_of_strings(cells, kind):
    rows = "\n".join(f"{cell},{i}" for i, cell in enumerate(cells.split()))
    column = text(f"a,b\n{rows}").columns[0]
    assert column.kind == kind
    assert column.n_missing == sum(cell in ("NA", "?") for cell in cells.split())
    assert column.n_missing == column.missing.sum()


def test_dates_are_days():
    table = text(
        "iso,dots,zone\n"
        "1970-01-02 12:00:00,2.1.1970,1970-01-01T00:00:00Z\n"
        "1969-12-31,1.3.1970,1970-01-02T06:00:00Z"
    )
    assert [c.values.tolist() for c in table.columns] == [[1.5, -1], [1, 59], [0, 1.25]]
    ambiguous = prepare(text("a,b\n1/2/2020,1\n3/4/2020,2\n1/2/2020,3"), "b")
    assert "days and months" in ambiguous.notes[0]


def test_types_of_arrow(tmp_path):
    day = datetime.date(1970, 1, 3)
    columns = {
        "decimal": pa.array([Decimal("1.50"), Decimal("2.25"), None]),
        "half": pa.array(np.array([1, 2, 3], dtype=np.float16)),
        "unsigned": pa.array([1, 2**64 - 1, 3], pa.uint64()),
        "boolean": pa.array([True, None, False]),
        "day": pa.array([day, None, datetime.date(1970, 1, 1)]),
        "stamp": pa.array([86_400_000_000_000, 0, None], pa.timestamp("ns", "Europe/Paris")),
        "time": pa.array([datetime.time(0, 1), datetime.time(1), None]),
        "duration": pa.array([datetime.timedelta(days=1), None, datetime.timedelta(seconds=1)]),
        "coded": pa.array([10, 20, 10]).dictionary_encode(),
        "words": pa.array(["u", "v", "u"], pa.large_string()).dictionary_encode(),
        "view": pa.array(["1", "2", "NA"], pa.string_view()),
        "null": pa.nulls(3),
        "list": pa.array([[1], [2, 3], None]),
        "struct": pa.array([{"a": 1}, {"a": 2}, {"a": 1}]),
        "bytes": pa.array([b"a", b"\xff", None]),
    }
    path = tmp_path / "types.feather"
    feather.write_feather(pa.table(columns), path)
    table = read_table(path)
    values = {column.name: column.values.tolist() for column in table.columns}
    nan = pytest.approx(np.nan, nan_ok=True)
    assert values["decimal"] == [1.5, 2.25, nan] and values["half"] == [1, 2, 3]
    assert values["unsigned"] == [1, 2.0**64, 3] and values["boolean"] == [1, nan, 0]
    assert values["day"] == [2, nan, 0] and values["stamp"] == [1, 0, nan]
    assert values["time"] == [60, 3600, nan] and values["duration"] == [86400, nan, 1]
    assert values["coded"] == [10, 20, 10] and values["view"] == [1, 2, nan]
    assert values["words"] == ["u", "v", "u"]
    assert values["list"] == ["[1]", "[2, 3]", None]
    assert table.column("null").kind == "empty" and table.column("words").kind == "category"
    assert table.column("boolean").words == ("false", "true")
    assert "rounded to 53 bits: 'unsigned'" in table.notes[0]
    assert [name for name in table.names if not table.column(name).feature] == ["list", "struct", "bytes"]
    assert sum("cannot be a feature" in note for note in table.notes) == 3
    for suffix in (".csv", ".xlsx", ".parquet"):
        write_table(table, table.names, tmp_path / f"again{suffix}")
        again = read_table(tmp_path / f"again{suffix}")
        for name in ("decimal", "half", "boolean", "day", "coded", "view"):
            np.testing.assert_array_equal(again.column(name).values, table.column(name).values, name)


def test_the_index_of_pandas_is_no_feature(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "y": [0, 1, 1]}, index=pandas.Index([7, 8, 9], name="id"))
    frame.to_parquet(tmp_path / "frame.parquet")
    table = read_table(tmp_path / "frame.parquet")
    assert prepare(table, "y").feature_names == ("a",)
    assert prepare(table, "y", keep=["id"]).feature_names == ("id",)


def test_sheets(tmp_path):
    workbook = openpyxl.Workbook()
    workbook.active.title = "one"
    day = datetime.datetime(1970, 1, 2)
    for row in ([None, None], ["a", "y", "when", "mix"], [1, "u", day, 1], [True, "v", None, "NA"]):
        workbook.active.append(row)
    two = workbook.create_sheet("two")
    two.append(["b", "c"])
    two.append([1, "=1+1"])
    workbook.save(tmp_path / "two.xlsx")
    with pytest.raises(FileProblem, match=r"several sheets with values: .* sheet, 'one', 'two'"):
        read_table(tmp_path / "two.xlsx")
    with pytest.raises(FileProblem, match="no sheet named 'three': there are 'one', 'two'"):
        read_table(tmp_path / "two.xlsx", sheet="three")
    table = read_table(tmp_path / "two.xlsx", sheet="one")
    assert table.names == ["a", "y", "when", "mix"] and table.n_rows == 2
    assert table.columns[2].values[0] == 1 and table.columns[3].kind == "constant"
    # The formula has no computed value.
    assert kinds(read_table(tmp_path / "two.xlsx", sheet="two")) == ["constant", "empty"]


def test_arrays_of_an_archive():
    data = npz(
        train=np.arange(12.0).reshape(4, 3),
        test=np.ones((2, 3)),
        y=np.arange(4)[:, None],
        z=np.array(["u", "v", "u", "w"]),
        flag=np.array([True, False, True, True]),
        about=np.array("words"),
        day=np.array(["1970-01-02", "NaT", "1970-01-01", "1970-01-01"], dtype="datetime64[D]"),
        records=np.array([(1, b"a"), (2, b"b"), (3, b"a"), (4, b"b")], dtype=[("r", "i4"), ("s", "S1")]),
    )
    with pytest.raises(FileProblem, match="matrices with different numbers of rows, 'train' of shape"):
        read_table(io.BytesIO(data))
    with pytest.raises(FileProblem, match="no array named 'trein': did you mean 'train'"):
        read_table(io.BytesIO(data), array="trein")
    with pytest.raises(FileProblem, match="'z' of shape"):
        read_table(io.BytesIO(data), array="z")
    table = read_table(io.BytesIO(data), array="train")
    assert table.names == [*(f"train[{j}]" for j in range(3)), "y", "z", "flag", "day", "r", "s"]
    assert table.column("train[1]").values.tolist() == [1, 4, 7, 10]
    assert kinds(table)[3:] == ["number", "category", "yes/no", "date", "number", "category"]
    assert table.column("flag").words == ("false", "true")
    assert table.notes == ("Left out 2 arrays without a value for each of 4 rows: 'test', 'about'.",)


def test_sparse_and_odd_variables_of_matlab(tmp_path):
    from scipy.sparse import csc_matrix

    X = np.array([[0.0, 2], [3, 0], [0, 5]])
    content = {"X": csc_matrix(X), "y": np.array([1, 2, 1]), "s": {"a": 1}}
    content["mixed"] = cells_of([1, "a", np.eye(2)])
    content["letters"] = np.array(["u", "vv", "u"])
    scipy_io.savemat(tmp_path / "a.mat", content, do_compression=True)
    table = read_table(tmp_path / "a.mat")
    np.testing.assert_array_equal(np.column_stack([c.values for c in table.columns[:2]]), X)
    assert table.names == ["X[0]", "X[1]", "y", "letters"]
    assert table.column("letters").values.tolist() == ["u", "vv", "u"]
    assert "'s', 'mixed'" in " ".join(table.notes)
    with h5py.File(tmp_path / "b.mat", "w", userblock_size=512) as file:
        full = csc_matrix(X)
        group = file.create_group("X")
        group.attrs["MATLAB_sparse"] = 3
        group.attrs["MATLAB_class"] = np.bytes_("double")
        group["data"], group["ir"], group["jc"] = full.data, full.indices, full.indptr
        file["y"] = np.array([[1.0, 2, 1]]).T.T
        file.create_group("s")["a"] = 1
    newer = read_table(tmp_path / "b.mat")
    np.testing.assert_array_equal(np.column_stack([c.values for c in newer.columns[:2]]), X)
    assert newer.names == ["X[0]", "X[1]", "y"] and "'s'" in newer.notes[0]


@pytest.mark.parametrize("do_compression", [True, False])
@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
def test_numbers_of_matlab_are_what_scipy_reads(kind, do_compression):
    stream = io.BytesIO()
    X = np.random.default_rng(1).integers(0, 2 if kind == "?" else 100, size=(5, 3)).astype(kind)
    scipy_io.savemat(stream, {"X": X, "long_name": X[:, 0], "s": X[0, 0]}, do_compression=do_compression)
    expected = scipy_io.loadmat(io.BytesIO(stream.getvalue()))["X"]
    table = read_table(io.BytesIO(stream.getvalue()), array="X")
    np.testing.assert_array_equal(np.column_stack([c.values for c in table.columns[:3]]), expected)
    np.testing.assert_array_equal(table.column("long_name").values, expected[:, 0])


def test_annotations_of_cells_can_be_the_target_but_are_no_features(files):
    table = read_table(files / "table.h5ad")
    assert table.names == ["index", "state", "batch", *GENES]
    assert prepare(table, "batch").feature_names == tuple(GENES)
    assert prepare(table, "batch").y.tolist()[:2] == ["0", "1"]
    assert prepare(table, "state", keep=["batch"]).feature_names == ("batch",)


# -- many columns ------------------------------------------------------------------------------


def test_memory_of_many_columns():
    n_columns = 20_000
    header = ",".join(f"x{column}" for column in range(n_columns))
    rows = "\n".join(",".join(f"{row}.{column}" for column in range(n_columns)) for row in range(3))
    gc.collect()
    before = pa.total_allocated_bytes()
    table = text(f"{header}\n{rows}")
    # Buffers of its own for each column would take 128 bytes at least.
    assert pa.total_allocated_bytes() - before < 100 * n_columns
    assert len(table.columns) == n_columns
    assert table.column("x12345").values.tolist() == [0.12345, 1.12345, 2.12345]
    assert table.column("x12345").raw.to_pylist() == ["0.12345", "1.12345", "2.12345"]
    assert not any(hasattr(item, "__dict__") for item in (table.columns[0], table.columns[0].as_cells(False)))


@pytest.mark.parametrize(
    "table",
    [
        'a,b,c\n1,"x, y",\n\n2,"p\nq",NA\n3,r,7\n',
        '"a","b"\n"r1",1,2\n"r2",3,4\n',
        'a,b,c\n"1"5,x"y,3\n2,z,4\n3,z,5\n',
        "a,b,c\r\n1,2,3\r\n4,5,6\r\n",
        "a,b,c\n1,2\r,3\n4,5,6\n",
        "a,b,c\n,,\n\n1,,é\n2,ø ü,\n",
        "a,b,c\n1,2,3\n4,5\n",
        'a,b,c\n1,2,3\n4,"5,6\n',
    ],
    ids=[
        "quotes",
        "row names",
        "inner quotes",
        "carriage returns",
        "carriage return in a line",
        "empty cells and lines",
        "ragged",
        "quote that is not closed",
    ],
)
def test_many_columns_are_read_as_few(monkeypatch, table):
    def outcome():
        try:
            read = text(table)
        except FileProblem as problem:
            return str(problem)
        return [(column.name, column.kind, column.raw.to_pylist()) for column in read.columns], read.notes

    few = outcome()
    monkeypatch.setattr("l1lsmi.files._formats.text.MANY_COLUMNS", 1)
    assert outcome() == few


def test_a_quote_that_is_not_closed_is_named(tmp_path):
    lines = [f'{i},{i % 5},"{"ab"[i % 2]}"' for i in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("x,z,y\n" + "\n".join(lines) + "\n")
    assert read_table(path).n_rows == 40
    lines[2] = '2,2,"a'
    path.write_text(
        "x,z,y\n" + "\n".join(line.replace('"', "") if i != 2 else line for i, line in enumerate(lines))
    )
    with pytest.raises(FileProblem, match="has a quote in line 4 that is not closed: close it, or remove it"):
        read_table(path)
    # A cell with line breaks, and a sign for inches, are cells.
    path.write_text('x,y\n1,"a\nb"\n2,5"\n3,c\n')
    assert read_table(path).n_rows == 3
