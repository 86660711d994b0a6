"""HDF5 is read by a process of its own, which may crash."""

import numpy as np
import pytest

from l1lsmi.files import FileProblem, memory, read_table
from l1lsmi.files.formats import apart
from tests.small_tables import WRITERS


@pytest.mark.parametrize("name", ["new.mat", "table.h5ad"])
def test_nothing_changes_on_the_way(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name)
    found = read_table(tmp_path / name)
    monkeypatch.setattr(apart, "APART", False)
    expected = read_table(tmp_path / name)
    assert found.names == expected.names and found.notes == expected.notes
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert (one.kind, one.n_missing, one.feature) == (other.kind, other.n_missing, other.feature)
        np.testing.assert_array_equal(one.values, other.values)


@pytest.mark.parametrize(
    "end",
    [
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "import os; os._exit(0)",
        "print('this is no answer at all')",
        "import sys; sys.stdout.buffer.write(bytes([255] * 8) + b'{}')",
    ],
)
def test_a_crash_is_a_sentence(tmp_path, monkeypatch, end):
    WRITERS["new.mat"](tmp_path / "in.mat")
    monkeypatch.setattr(apart, "START", end)
    with pytest.raises(FileProblem, match=r"in.mat is damaged: the HDF5 library could not read it"):
        read_table(tmp_path / "in.mat")


def test_the_process_knows_how_much_memory_there_is(tmp_path, monkeypatch):
    WRITERS["new.mat"](tmp_path / "in.mat")
    monkeypatch.setattr(memory, "at_hand", lambda: 100)
    with pytest.raises(FileProblem, match=r"in.mat does not fit into memory"):
        read_table(tmp_path / "in.mat")
