"""Files of MATLAB and HDF5 are read in a sandbox process, which may crash."""

import io
import json
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi import _processes
from l1lsmi.files import FileProblem, _memory, read_table
from l1lsmi.files._formats import sandbox
from tests.small_tables import WRITERS, scipy_io
from tests.test_hostile_files import check_flipped, one_sentence
from tests.test_processes import LINUX

#: A sandbox in which a library holds the lock of the interpreter for ever, as HDF5 does.
SPINNING = """
import ctypes
from l1lsmi.files._formats import sandbox
sandbox.GRACE_SECONDS = 0
sandbox._read_here = lambda *args: ctypes.PyDLL(None).pause()
sandbox.serve()
"""


@pytest.mark.parametrize("name", ["table.mat", "new.mat", "table.h5ad"])
def test_the_sandbox_reads_the_same_table(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name)
    table = read_table(tmp_path / name)
    monkeypatch.setattr(sandbox, "ENABLED", False)
    expected = read_table(tmp_path / name)
    assert table.names == expected.names and table.notes == expected.notes
    for one, other in zip(table.columns, expected.columns, strict=True):
        assert (one.kind, one.n_missing, one.feature) == (other.kind, other.n_missing, other.feature)
        np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize("name", ["table.mat", "new.mat"])
@pytest.mark.parametrize(
    "code",
    [
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "import os; os._exit(0)",
        "print('this is no answer at all')",
        "import sys; sys.stdout.buffer.write(bytes([255] * 8) + b'{}')",
    ],
)
def test_a_crash_is_a_sentence(tmp_path, monkeypatch, name, code):
    WRITERS[name](tmp_path / "in.mat")
    monkeypatch.setattr(_processes, "CODE", code)
    with pytest.raises(FileProblem, match=r"in.mat is damaged: the process that read it crashed"):
        read_table(tmp_path / "in.mat")


def test_a_file_that_is_read_for_ever_is_a_sentence(tmp_path, monkeypatch):
    WRITERS["table.mat"](tmp_path / "in.mat")
    monkeypatch.setattr(_processes, "CODE", "import time; time.sleep(100)")
    monkeypatch.setattr(sandbox, "MIN_SECONDS", 0.2)
    with pytest.raises(FileProblem, match=r"in.mat is probably damaged: it was not read within 1 second;"):
        read_table(tmp_path / "in.mat")


@LINUX
def test_a_sandbox_that_nothing_ends_ends_itself(monkeypatch):
    monkeypatch.setattr(_processes, "CODE", SPINNING)
    request = {"module": "mat5", "source": "in.mat", "memory": 1 << 30, "seconds": 0.1}
    with _processes.start_python("any") as process:
        for data in (json.dumps(request).encode(), b""):
            sandbox._send(process.stdin, data)
        process.stdin.flush()
        try:
            assert process.wait(timeout=20) == 1
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["table.mat", "new.mat"])
def test_the_sandbox_knows_how_much_memory_there_is(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / "in.mat")
    monkeypatch.setattr(_memory, "available_memory", lambda: 100)
    with pytest.raises(FileProblem, match=r"in.mat does not fit into memory"):
        read_table(tmp_path / "in.mat")


# -- hostile files of MATLAB ------------------------------------------------------------------

CELL, OBJECT, SPARSE, DOUBLE, FUNCTION, OPAQUE = 1, 3, 5, 6, 16, 17
COMPLEX = 0x800


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + bytes(-len(data) % 8)


def doubles(*values):
    return element(9, struct.pack(f"<{len(values)}d", *values))


def integers(*values):
    return element(5, struct.pack(f"<{len(values)}i", *values))


def matrix(kind, shape, name, *parts):
    return element(14, b"".join([element(6, struct.pack("<II", kind, 0)), integers(*shape), name, *parts]))


def named(name):
    return element(1, name)


def nested_cells(depth):
    """A cell in a cell in a cell and so on."""
    one = matrix(DOUBLE, (1, 1), named(b""), doubles(1.0))
    head = element(6, struct.pack("<II", CELL, 0)) + integers(1, 1) + named(b"")
    sizes = (len(head) * (depth - level) + 8 * (depth - level - 1) + len(one) for level in range(depth))
    return b"".join(struct.pack("<II", 14, size) + head for size in sizes) + one


def mat_file(*variables):
    """A file of version 7, whose variables are compressed, with a matrix X before them."""
    X = matrix(DOUBLE, (3, 2), named(b"X"), doubles(*range(6)))
    packed = map(zlib.compress, (X, *variables))
    return (
        b"MATLAB 5.0 MAT-file".ljust(124)
        + b"\0\1IM"
        + b"".join(struct.pack("<II", 15, len(p)) + p for p in packed)
    )


REFUSED = {
    "deeply nested cells": matrix(CELL, (1, 1), named(b"c"), nested_cells(100_000)),
    "nested cells": matrix(CELL, (1, 1), named(b"c"), nested_cells(3000)),
    "a huge matrix": matrix(DOUBLE, (2**31 - 1, 2**31 - 1), named(b"Y"), doubles(1.0)),
    "a huge cell array": matrix(CELL, (2**31 - 1, 2**31 - 1), named(b"c"), nested_cells(1)),
    "a huge matrix in a cell": matrix(
        CELL, (1, 1), named(b"c"), matrix(DOUBLE, (2**31 - 1, 1), named(b""), doubles(1.0))
    ),
    "a negative shape": matrix(DOUBLE, (-5, 2), named(b"Y"), doubles(1.0)),
    "a huge element": matrix(DOUBLE, (2, 2), named(b"Y"), struct.pack("<II", 9, 2**32 - 16)),
    "a row out of bounds": matrix(
        SPARSE, (3, 2), named(b"S"), integers(0, 10**8), integers(0, 1, 2), doubles(1.0, 2.0)
    ),
    "a column out of order": matrix(
        SPARSE, (3, 2), named(b"S"), integers(0, 1), integers(0, -5, 2), doubles(1.0, 2.0)
    ),
    "no matrix": element(9, bytes(64)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_hostile_variables_are_a_sentence(case):
    if case == "a column out of order":  # older versions of SciPy make a matrix of it
        pytest.importorskip("scipy", minversion="1.17")
    with pytest.raises(FileProblem, match=r"memory|damaged") as caught:
        read_table(io.BytesIO(mat_file(REFUSED[case])))
    one_sentence(caught.value)


def test_truncated_files_are_a_sentence():
    data = mat_file()
    assert read_table(io.BytesIO(data)).names == ["X[0]", "X[1]"]
    for size in (20, 127, 130, len(data) - 9):
        with pytest.raises(FileProblem) as caught:
            read_table(io.BytesIO(data[:size]), format="mat")
        one_sentence(caught.value)


def test_objects_and_functions_are_left_out():
    one = matrix(DOUBLE, (1, 1), named(b""), doubles(1.0))
    opaque = [named(b"text"), named(b"MCOS"), named(b"string"), one]
    variables = [
        element(14, b"".join([element(6, struct.pack("<II", OPAQUE, 0)), *opaque])),
        matrix(FUNCTION, (1, 1), named(b"function"), one),
        matrix(OBJECT, (1, 1), named(b"object"), named(b"Class"), integers(8), named(b"field\0\0\0"), one),
        matrix(DOUBLE | COMPLEX, (3, 1), named(b"complex"), doubles(1, 2, 3), doubles(1, 2, 3)),
    ]
    table = read_table(io.BytesIO(mat_file(*variables)))
    assert table.names == ["X[0]", "X[1]"] and table.column("X[1]").values.tolist() == [3, 4, 5]
    assert table.notes == (
        "Left out 4 variables with neither numbers nor text: 'text', 'function', 'object', 'complex'.",
    )


def test_characters_of_two_bytes():
    letters = element(4, "éaéb日c".encode("utf-16-le"))
    table = read_table(io.BytesIO(mat_file(matrix(4, (3, 2), named(b"y"), letters))))
    assert table.column("y").values.tolist() == ["éb", "a日", "éc"]


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_flipped_byte_gives_a_table_or_a_sentence(data):
    stream = io.BytesIO()
    scipy_io.savemat(stream, {"X": np.eye(4), "y": np.arange(4), "z": np.array(["a", "b", "c", "d"])})
    check_flipped(data, stream.getvalue(), "mat")
