"""Formats that are read, one module for each, and how a format is inferred from a name or from bytes."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePath

from l1lsmi._messages import printable
from l1lsmi.files.problem import FileProblem


@dataclass(frozen=True)
class Options:
    """Options of `read_table`; each format uses some of them."""

    format: str
    delimiter: str | None = None
    sheet: str | None = None
    array: str | None = None


@dataclass(frozen=True)
class Format:
    """A format that is read.

    Parameters
    ----------
    title : str
        For messages.
    module : str
        The module of this package that has its ``read(data, source, options)``.
    suffixes : tuple of str
    options : tuple of str
        The fields of `Options` that it uses.
    """

    title: str
    module: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...] = ()


FORMATS = {
    "csv": Format("CSV", "text", (".csv", ".txt"), ("delimiter",)),
    "tsv": Format("TSV", "text", (".tsv", ".tab"), ("delimiter",)),
    "parquet": Format("Parquet", "arrow", (".parquet", ".pq")),
    "feather": Format("Feather", "arrow", (".feather", ".arrow", ".ipc")),
    "excel": Format("Excel", "excel", (".xlsx", ".xlsm"), ("sheet",)),
    "npz": Format("NumPy .npz", "npz", (".npz",), ("array",)),
    "mat": Format("MATLAB .mat", "mat", (".mat",), ("array",)),
    "h5ad": Format("AnnData .h5ad", "h5ad", (".h5ad",)),
}
FORMAT_OF_SUFFIX = {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}
REFUSED_SUFFIXES = {
    ".xls": "a file in the old Excel format: save it as .xlsx",
    ".ods": "an OpenDocument sheet: save it as .xlsx or .csv",
    ".pkl": "a pickle, which is never loaded as it can run any code: save the table as .parquet or .csv",
    ".pickle": "a pickle, which is never loaded as it can run any code: save the table as .parquet or .csv",
    ".npy": "a single array without names: save X and y with numpy.savez",
    ".rds": "a file of R: save the table with write.csv",
    ".rdata": "a file of R: save the table with write.csv",
    ".json": "JSON, which is not read: save the table as .csv or .parquet",
    ".zip": "a zip archive: extract the table",
}
SIGNATURES = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"FEA1", "feather"),
    (b"\xff\xff\xff\xff", "feather"),
    (b"MATLAB ", "mat"),
    (b"\x89HDF\r\n\x1a\n", "h5ad"),
)
REFUSED_SIGNATURES = (
    (b"\xd0\xcf\x11\xe0", ".xls"),
    (b"\x93NUMPY", ".npy"),
    (b"\x80\x02", ".pkl"),
    (b"\x80\x03", ".pkl"),
    (b"\x80\x04", ".pkl"),
    (b"\x80\x05", ".pkl"),
)


def format_of_name(source: str) -> str | None:
    """The format of a file name, or None where it is unknown.

    Examples
    --------
    >>> format_of_name("genes.csv.gz"), format_of_name("genes.dat")
    ('csv', None)
    """
    path = PurePath(source.lower())
    suffix = PurePath(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix in REFUSED_SUFFIXES:
        raise FileProblem(f"{printable(source)} is {REFUSED_SUFFIXES[suffix]}.")
    return FORMAT_OF_SUFFIX.get(suffix)


def format_of_bytes(data: bytes, source: str) -> str:
    """The format of the first bytes of a file; CSV where they are no known signature.

    Examples
    --------
    >>> format_of_bytes(b"PAR1...", "table"), format_of_bytes(b"a,b", "table")
    ('parquet', 'csv')
    """
    for signature, name in SIGNATURES:
        if data.startswith(signature):
            return name
    for signature, suffix in REFUSED_SIGNATURES:
        if data.startswith(signature):
            raise FileProblem(f"{printable(source)} is {REFUSED_SUFFIXES[suffix]}.")
    return _format_of_zip(data, source) if data.startswith(b"PK\x03\x04") else "csv"


def _format_of_zip(data: bytes, source: str) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise FileProblem(f"{printable(source)} is a damaged zip archive: save the file again.") from None
    if any(name.endswith(".npy") for name in members):
        return "npz"
    if any(name.startswith("xl/") for name in members):
        return "excel"
    raise FileProblem(f"{printable(source)} is a zip archive, but neither .npz nor .xlsx: extract the table.")
