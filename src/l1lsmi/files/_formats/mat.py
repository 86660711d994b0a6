"""MATLAB files, read in a sandbox: versions 4 to 7 with SciPy, version 7.3 with h5py."""

from __future__ import annotations

from l1lsmi._messages import counted, listed
from l1lsmi.files._formats import Options, sandbox
from l1lsmi.files._formats.arrays import table_of_named_arrays
from l1lsmi.files._table_builder import TableBuilder

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read(data: bytes, source: str, options: Options) -> TableBuilder:
    """Read the variables of a file: full or sparse matrices, character arrays, and cells of either.

    Parameters
    ----------
    data : bytes
    source : str
        For messages.
    options : Options
        Its array: which is the matrix of features.
    """
    is_hdf5 = HDF5_SIGNATURE in (data[:8], data[512:520])
    contents = sandbox.read_contents("mat73" if is_hdf5 else "mat5", data, source)
    table = table_of_named_arrays(contents.arrays, source, options.array)
    if left_out := contents.strings:
        table.add_note(
            f"Left out {counted(len(left_out), 'variable')} with neither numbers nor text: "
            f"{listed(left_out)}."
        )
    return table
