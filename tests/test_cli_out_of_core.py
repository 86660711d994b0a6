"""The command line on Parquet and Feather files whose features stay on disk."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather

from l1lsmi import _arrow
from l1lsmi._cli import data as cli_data
from l1lsmi._cli.fitting import features_for
from l1lsmi.files import DataTable, FileProblem, prepare, read_table
from l1lsmi.files._stream import StreamedFeatures, stream_table
from tests.test_cli import call

N = 600
SUFFIXES = ["parquet", "feather"]


def frame(n=N):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 6)), columns=[*"abcdef"])
    table["d"] = table["d"].astype("float32")
    table["e"] = rng.integers(0, 5, n)
    table["flag"] = rng.random(n) > 0.5
    table["constant"], table["number"] = 1.5, np.arange(7, n + 7)
    table["y"] = table["b"] * table["d"] + 0.1 * rng.normal(size=n)
    return table.astype({"y": float})


TARGETS = {
    "number": lambda y: y,
    "whole number": lambda y: np.digitize(y, [-0.5, 0.5]),
    "boolean": lambda y: y > 0,
    "text": lambda y: np.where(y > 0, "high", "low"),
    "category": lambda y: pd.Categorical(np.where(y > 0, "high", "low")),
    "numbers as text": lambda y: np.where(y > 0, "1", "2"),
}


def write(path, table, row_group_size=250):
    if str(path).endswith("parquet"):
        table.to_parquet(path, row_group_size=row_group_size)
    else:
        feather.write_feather(pa.Table.from_pandas(table), str(path), chunksize=row_group_size)
    return str(path)


@pytest.fixture
def streamed(monkeypatch):
    """Small batches, so that small files are streamed; records whether each file was."""
    found = []

    def noted(*args):
        table = stream_table(*args)
        found.append(table is not None)
        return table

    monkeypatch.setattr(_arrow, "BATCH_VALUES", 1_000)
    monkeypatch.setattr(cli_data, "stream_table", noted)
    return found


def document(capfd, *args):
    # Six digits, as sums over batches have another order than those over arrays.
    printed = call(capfd, *args, "--json").out
    result = json.loads(printed, parse_float=lambda number: float(f"{float(number):.6g}"))
    assert not result["format"].endswith("error"), result
    del result["seconds"]
    return result


def both(capfd, streamed, monkeypatch, *args):
    """The document of a command, checked to be the same with the file in memory."""
    found = document(capfd, *args)
    monkeypatch.setattr(cli_data, "stream_table", lambda *_: None)
    expected = document(capfd, *args)
    for method in [*found.get("methods", []), *expected.get("methods", [])]:
        del method["seconds"]
    found.pop("all_features", {}), expected.pop("all_features", {})
    assert streamed == [True] and found == expected
    return found


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("kind", TARGETS)
def test_select_gives_the_same_on_disk_and_in_memory(capfd, tmp_path, streamed, monkeypatch, suffix, kind):
    table = frame()
    table["y"] = TARGETS[kind](table["y"])
    path = write(tmp_path / f"in.{suffix}", table)
    found = both(capfd, streamed, monkeypatch, "select", path, "-t", "y", "-k", 2)
    assert found["columns"] == ["b", "d"] and found["features_considered"] == 7
    assert {column["name"]: column["why"] for column in found["left_out"]} == {
        "constant": "constant",
        "number": "row numbers",
    }


@pytest.mark.parametrize("command", ["measure", "compare"])
def test_other_commands_read_a_sample_of_the_rows(capfd, tmp_path, streamed, monkeypatch, command):
    path = write(tmp_path / "in.parquet", frame())
    options = {"measure": ["--measures", "pearson,smi"], "compare": ["-k", 2, "--methods", "pearson,mrmr"]}
    args = [command, path, "-t", "y", "--max-rows", 200, *options[command]]
    assert both(capfd, streamed, monkeypatch, *args)["rows_used"] == 200


def test_text_that_is_dropped_and_the_index_of_pandas_stay_on_disk(capfd, tmp_path, streamed, monkeypatch):
    table = frame().assign(patient=[f"P{i}" for i in range(N)], gaps=np.nan)
    table.loc[5, "gaps"] = 1.0
    table.index = pd.Index(np.random.default_rng(1).permutation(N), name="id")
    path = write(tmp_path / "in.parquet", table)
    args = ["select", path, "-t", "y", "-k", 2, "--drop", "patient", "--drop", "gaps"]
    found = both(capfd, streamed, monkeypatch, *args)
    assert {"name": "id", "why": "describes the rows"} in found["left_out"]
    assert any("'id' is the index" in note for note in found["notes"])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_on_disk_are_written_as_they_are(capfd, tmp_path, streamed, suffix):
    table = frame()
    path, output = write(tmp_path / f"in.{suffix}", table), tmp_path / "out.parquet"
    assert call(capfd, "select", path, "-t", "y", "-k", 2, "--output", output).code == 0
    pd.testing.assert_frame_equal(pd.read_parquet(output), table[["b", "d", "y"]])
    assert streamed == [True]


IN_MEMORY = {
    "text": (lambda table: table.assign(c=[*"uvw"] * (N // 3)), []),
    "a missing value": (lambda table: table.assign(c=table["c"].where(table.index != 7)), []),
    "a missing target": (lambda table: table.assign(y=table["y"].where(table.index != 7)), []),
    "dates": (lambda table: table.assign(c=pd.date_range("2020", periods=N)), []),
    "an index that is asked for": (lambda table: table.set_index("e"), ["--keep", "e", "--keep", "b"]),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("case", IN_MEMORY)
def test_files_that_need_encoding_are_read_into_memory(capfd, tmp_path, streamed, suffix, case):
    change, options = IN_MEMORY[case]
    path = write(tmp_path / f"in.{suffix}", change(frame()))
    found = document(capfd, "select", path, "-t", "y", "-k", 2, "-m", "l1-lsmi", *options)
    assert streamed == [False] and "b" in found["columns"]


def test_methods_and_reports_that_need_all_rows_read_them(capfd, tmp_path, streamed):
    path = write(tmp_path / "in.parquet", frame())
    assert document(capfd, "select", path, "-t", "y", "-k", 2, "-m", "mrmr")["method"] == "mrmr"
    args = ["compare", path, "-t", "y", "-k", 1, "--methods", "pearson", "--report", tmp_path / "r.html"]
    assert call(capfd, *args).code == 0
    assert streamed == []


@pytest.mark.parametrize("option", ["-t", "--drop", "--keep"])
def test_unknown_names_are_refused_before_columns_are_read(capfd, tmp_path, streamed, monkeypatch, option):
    path = write(tmp_path / "in.parquet", frame())
    monkeypatch.setattr(_arrow.ArrowFile, "read", None)
    args = ["-t", "flog"] if option == "-t" else ["-t", "y", option, "flog"]
    result = call(capfd, "select", path, *args)
    assert result.code == 1 and "no column named 'flog': did you mean 'flag'" in result.err


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_refused(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(_arrow, "BATCH_VALUES", 1_000)
    path = tmp_path / f"in.{suffix}"
    write(path, frame())
    whole = path.read_bytes()
    for cut in (len(whole) // 2, len(whole) - 5):
        path.write_bytes(whole[:cut])
        assert stream_table(str(path), "y", None, (), ()) is None
        with pytest.raises(FileProblem, match="cannot be read as"):
            read_table(path)
    if suffix == "parquet":  # the end of the file is intact, and its data are not
        path.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
        with pytest.raises(FileProblem, match="cannot be read as"):
            stream_table(str(path), "y", None, (), ())


def test_rows_of_features_on_disk_are_those_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(_arrow, "BATCH_VALUES", 1_000)
    for suffix in SUFFIXES:
        path = write(tmp_path / f"in.{suffix}", frame())
        on_disk = prepare(stream_table(path, "y", None, (), ()), "y")
        in_memory = prepare(read_table(path), "y")
        assert isinstance(on_disk.X, StreamedFeatures) and on_disk.X.shape == in_memory.X.shape == (N, 7)
        rows = np.array([0, 3, 249, 250, N - 1])
        words = {"true": 1.0, "false": 0.0}
        columns = [column.to_pylist() for column in features_for(in_memory.X, rows).columns]
        some = np.array([[words.get(value, value) for value in column] for column in columns]).T
        np.testing.assert_array_equal(features_for(on_disk.X, rows), some)
        assert on_disk.columns == in_memory.columns and on_disk.notes == in_memory.notes
        assert on_disk.feature_names == in_memory.feature_names


def test_other_sources_are_read_into_memory(tmp_path):
    for name in ("-", "no.parquet", str(tmp_path), "in.csv"):
        assert stream_table(name, "y", None, (), ()) is None
    small = write(tmp_path / "in.parquet", frame())  # no larger than a batch
    assert stream_table(small, "y", None, (), ()) is None
    assert isinstance(read_table(small), DataTable)


# -- memory -----------------------------------------------------------------------------------

ROWS, COLUMNS = 320_000, 80
#: Prints by how much the largest resident set exceeds the one after imports, in bytes, and the features.
PEAK = """
import contextlib, io, json, sys
import l1lsmi._cli.select, l1lsmi._cli.data, l1lsmi.sources.arrow
from l1lsmi import L1LSMI, _arrow
from l1lsmi._cli.app import run
_arrow.BATCH_VALUES = 400_000
how, path = sys.argv[1:]

def resident(field):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])

before = resident("VmRSS")
if how == "library":
    found = L1LSMI(1, task="classification", random_state=0).fit(path, "y")
    columns, score = found.get_feature_names_out().tolist(), found.smi_
else:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        run(["select", path, "-t", "y", "-k", "1", "--json"])
    document = json.loads(printed.getvalue())
    columns, score = document["columns"], document["score"]["value"]
print(json.dumps([resident("VmHWM") - before, columns, score]))
"""


def peak(how, path):
    run = subprocess.run(
        [sys.executable, "-c", PEAK, how, str(path)], capture_output=True, text=True, check=True
    )
    return json.loads(run.stdout)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads /proc")
def test_a_large_file_needs_no_more_memory_than_in_the_library(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(COLUMNS, ROWS))
    columns = {f"c{j}": x[j] for j in range(COLUMNS)}
    table = pd.DataFrame({**columns, "y": np.where(x[3] > 0, "up", "down")})
    path = write(tmp_path / "in.parquet", table, 20_000)
    size = x.nbytes
    del x, columns, table
    library, expected, score = peak("library", path)
    streamed, *found = peak("streamed", path)
    assert found == [expected, pytest.approx(score, rel=1e-9)] and expected == ["c3"]
    assert streamed < 1.25 * library and streamed < 0.95 * size <= os.path.getsize(path)
