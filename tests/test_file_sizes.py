"""Small files that decode to much data are refused before they are decoded."""

import io
import zipfile

import numpy as np
import pytest

from l1lsmi.files import _memory, read_table, write_table
from tests.test_hostile_files import h5py, pa, parquet, refusal, written, zipped

pytestmark = pytest.mark.usefixtures("sandbox_disabled")


def test_repeated_strings_are_counted_each_time(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", minversion="19")  # arrays of views from buffers
    feather = pytest.importorskip("pyarrow.feather")
    available = 64 << 20
    monkeypatch.setattr(_memory, "available_memory", lambda: available)
    long = pa.array(["z" * 10**6] * 100).dictionary_encode()
    table = pa.table({"s": long, "y": [*"uv"] * 50})
    parquet.write_table(table, tmp_path / "in.parquet")
    parquet.write_table(
        pa.table({"s": ["z" * 10**6 + str(i) for i in range(100)]}),
        tmp_path / "delta.parquet",
        use_dictionary=False,
        column_encoding={"s": "DELTA_BYTE_ARRAY"},
    )
    feather.write_feather(table, tmp_path / "in.feather")
    word = pa.array(["z" * 10**6], pa.string_view()).buffers()
    many = pa.py_buffer(bytes(word[1])[:16] * 100)
    views = pa.Array.from_buffers(pa.string_view(), 100, [None, many, *word[2:]])
    feather.write_feather(pa.table({"s": views}), tmp_path / "view.feather", compression="uncompressed")
    feather.write_feather(pa.table({"n": pa.nulls(10**8)}), tmp_path / "nothing.feather")
    for name in ("in.parquet", "delta.parquet", "in.feather", "view.feather", "nothing.feather"):
        assert "does not fit into memory" in refusal(tmp_path / name), name
    # With more memory the same table is read.
    available = 1 << 34
    assert read_table(tmp_path / "in.parquet").n_rows == 100


def test_hdf5_that_claims_too_much(tmp_path, monkeypatch):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    monkeypatch.setattr(_memory, "available_memory", lambda: 1 << 26)
    cells = pandas.DataFrame({"y": [*"uvu"]}, index=[*"abc"])
    for where in ("obs", "X"):
        path = tmp_path / f"{where}.h5ad"
        anndata.AnnData(np.eye(3), obs=cells, var=pandas.DataFrame(index=[*"fgh"])).write_h5ad(path)
        with h5py.File(path, "a") as file:
            if where == "X":
                del file["X"]
                sparse = file.create_group("X")
                sparse.attrs.update(
                    {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [3, 3]}
                )
                sparse["indptr"] = np.zeros(4, "i4")
            for name in ("data", "indices"):
                made = file[where].create_dataset(name, shape=(10**8,), chunks=(1 << 20,), dtype="i4")
                made.attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})
            if where == "obs":
                file["obs"].attrs["column-order"] = ["y", "data"]
        assert "does not fit into memory" in refusal(path), where
    path = tmp_path / "in.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        letters = file.create_dataset(
            "#refs#/0", shape=(1 << 20, 1), chunks=(1 << 10, 1), dtype="u2", fillvalue=97
        )
        letters.attrs["MATLAB_class"] = np.bytes_("char")
        cells = file.create_dataset("c", data=np.array([[letters.ref] * 99], dtype=h5py.ref_dtype))
        cells.attrs["MATLAB_class"] = np.bytes_("cell")
    assert "does not fit into memory" in refusal(path)


def sheet(*rows):
    """A workbook whose only sheet has these rows, as text."""
    openpyxl = pytest.importorskip("openpyxl")
    stream, changed = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(stream)
    with zipfile.ZipFile(stream) as old, zipfile.ZipFile(changed, "w") as new:
        for member in old.infolist():
            data = old.read(member)
            if member.filename.endswith("sheet1.xml"):
                data = data.replace(b"</sheetData>", f"{''.join(rows)}</sheetData>".encode())
                assert b"<row" in data
            new.writestr(member, data)
    return changed.getvalue()


NAME = '<c r="{}1" t="inlineStr"><is><t>{}</t></is></c>'
HEAD = f'<row r="1">{NAME.format("A", "a")}{NAME.format("B", "y")}</row>'


def test_workbooks_beyond_the_limits_of_excel(tmp_path, monkeypatch):
    far = [
        '<row r="999999999999"><c r="A1"><v>1</v></c></row>',
        '<row r="2"><c r="A2"><v>1</v></c><c r="ZZZ2"><v>1</v></c></row>',
    ]
    for row in far:
        assert "beyond the 1048576 rows and 16384 columns" in refusal(
            written(tmp_path, "in.xlsx", sheet(HEAD, row))
        )
    monkeypatch.setattr(_memory, "available_memory", lambda: 1 << 24)
    wide = [f'<row r="{i}"><c r="A{i}"><v>1</v></c><c r="XFD{i}"><v>1</v></c></row>' for i in range(2, 60)]
    data = written(tmp_path, "in.xlsx", sheet(HEAD, *wide))
    assert "are needed for its sheet" in refusal(data)


@pytest.mark.parametrize(
    ("entities", "used", "expected"),
    [
        ("".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10)), "&a9;", "amplification"),
        ('<!ENTITY file SYSTEM "{secret}">', "&file;", "undefined entity"),
    ],
)
def test_entities_of_workbooks_neither_grow_nor_read_files(tmp_path, entities, used, expected):
    secret = written(tmp_path, "secret.txt", "secret")
    type_of_document = (
        f'<!DOCTYPE x [<!ENTITY a0 "0123456789">{entities.replace("{secret}", secret.as_uri())}]>'
    )
    table = read_table(io.BytesIO(b"a,y\nword,1\nother,2\n"))
    write_table(table, table.names, tmp_path / "in.xlsx")
    with zipfile.ZipFile(tmp_path / "in.xlsx") as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    (sheet,) = (name for name in parts if "<t>word</t>" in parts[name])
    start = parts[sheet].startswith("<?xml") and parts[sheet].index("?>") + 2
    changed = parts[sheet].replace("<t>word</t>", f"<t>{used}</t>")
    parts[sheet] = changed[:start] + type_of_document + changed[start:]
    assert expected in refusal(written(tmp_path, "changed.xlsx", zipped(**parts)))
