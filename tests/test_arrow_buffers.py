"""Compressed buffers of Arrow files: what their metadata state is known before anything is allocated."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from l1lsmi import _arrow
from l1lsmi.files import FileProblem, read_table
from l1lsmi.files._formats.arrow_buffers import decompressed_sizes, largest_column, total_size
from l1lsmi.files._stream import stream_table
from tests.test_hostile_files import check_flipped, one_sentence

pa = pytest.importorskip("pyarrow")
N = 3000
TABLE = pa.table(
    {
        "a": np.zeros(N),
        "b": np.arange(N) % 5,
        "c": pa.array(["long word"] * N).dictionary_encode(),
        "d": pa.array([None, 1.0] * (N // 2)),
        "y": ["u", "v"] * (N // 2),
    }
)


def serialized(table, form, compression, rows=None):
    sink = pa.BufferOutputStream()
    make = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with make(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue().to_pybytes()


def sizes_of(data):
    return decompressed_sizes(pa.BufferReader(data))


def with_claim(data, stated, claimed):
    """A file in which a buffer claims another length."""
    found = data.rindex(struct.pack("<q", stated))
    return data[:found] + struct.pack("<q", claimed) + data[found + 8 :]


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_sizes_are_those_of_the_buffers(form, compression):
    data = serialized(TABLE, form, compression, rows=1000)
    opened = (pa.ipc.open_file if form == "file" else pa.ipc.open_stream)(data)
    batches = opened.read_all().to_batches()
    found = [sizes for sizes in sizes_of(data) if sizes.size > 3]  # of a dictionary there are 3
    assert len(found) == len(batches) == 3
    for sizes, batch in zip(found, batches, strict=True):
        buffers = [buffer for column in batch.columns for buffer in column.buffers()]
        own = np.array([0 if buffer is None else buffer.size for buffer in buffers])
        compressed = sizes > 0
        np.testing.assert_array_equal(sizes[compressed], own[: len(sizes)][compressed])
        assert (sizes == 8000).sum() == 3
    assert largest_column(sizes_of(data)) == 24_000
    assert total_size(sizes_of(data)) >= 72_000
    plain = serialized(TABLE, form, None, rows=1000)
    assert total_size(sizes_of(plain)) == 0


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_a_buffer_that_claims_to_be_huge_is_not_allocated(monkeypatch, form, compression):
    data = serialized(TABLE, form, compression)
    assert read_table(io.BytesIO(data)).names == TABLE.column_names
    monkeypatch.setattr(_arrow.ArrowFile, "read", None)
    for claimed in (10**12, 2**63 - 1):
        with pytest.raises(FileProblem, match=r"does not fit into memory: \d+.\d GiB are needed") as caught:
            read_table(io.BytesIO(with_claim(data, 8 * N, claimed)))
        one_sentence(caught.value)
    with pytest.raises(FileProblem, match="a buffer of negative length"):
        read_table(io.BytesIO(with_claim(data, 8 * N, -5)))


def test_a_file_with_a_huge_buffer_is_not_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(_arrow, "BATCH_VALUES", 100)
    table = TABLE.select(["a", "b"])
    data = serialized(table, "file", "lz4")
    path = tmp_path / "in.feather"
    path.write_bytes(data)
    assert stream_table(str(path), "b", None, (), ()).names == ["a", "b"]
    monkeypatch.setattr(_arrow.ArrowFile, "read", None)
    path.write_bytes(with_claim(data, 8 * N, 10**12))
    assert stream_table(str(path), "b", None, (), ()) is None


@settings(max_examples=60, deadline=None)
@given(data=st.data(), form=st.sampled_from(["file", "stream"]))
def test_a_flipped_byte_gives_a_table_or_a_sentence(data, form):
    check_flipped(data, serialized(TABLE.slice(0, 50), form, "lz4"), "feather")
