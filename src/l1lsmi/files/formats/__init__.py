"""One file per format, and how a format is told: by the name of the file, else by its first bytes."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePath

from l1lsmi.files.problem import FileProblem, where


@dataclass(frozen=True)
class Options:
    """What the reader was asked for; each format takes what it knows."""

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
        The file of this folder that has its ``read(data, source, options)``.
    suffixes : tuple of str
    options : tuple of str
        Which of the fields of ``Options`` it knows.
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
BY_SUFFIX = {suffix: name for name, form in FORMATS.items() for suffix in form.suffixes}
REFUSED_SUFFIXES = {
    ".xls": "the old format of Excel: save it as .xlsx",
    ".ods": "an OpenDocument sheet: save it as .xlsx or .csv",
    ".pkl": "a pickle, which is never loaded as it may run any code: save the table as .parquet or .csv",
    ".pickle": "a pickle, which is never loaded as it may run any code: save the table as .parquet or .csv",
    ".npy": "a single array without names: save X and y with numpy.savez",
    ".rds": "a file of R: save the table with write.csv",
    ".rdata": "a file of R: save the table with write.csv",
    ".json": "JSON, which is not read: save the table as .csv or .parquet",
    ".zip": "a zip archive: take the table out of it",
}
MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"FEA1", "feather"),
    (b"\xff\xff\xff\xff", "feather"),
    (b"MATLAB ", "mat"),
    (b"\x89HDF\r\n\x1a\n", "h5ad"),
)
REFUSED_MAGIC = (
    (b"\xd0\xcf\x11\xe0", ".xls"),
    (b"\x93NUMPY", ".npy"),
    (b"\x80\x02", ".pkl"),
    (b"\x80\x03", ".pkl"),
    (b"\x80\x04", ".pkl"),
    (b"\x80\x05", ".pkl"),
)


def by_name(source: str) -> str | None:
    """The format that the name of a file tells, or None.

    Examples
    --------
    >>> by_name("genes.csv.gz"), by_name("genes.dat")
    ('csv', None)
    """
    path = PurePath(source.lower())
    suffix = PurePath(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if suffix in REFUSED_SUFFIXES:
        raise FileProblem(f"{where(source)} is {REFUSED_SUFFIXES[suffix]}.")
    return BY_SUFFIX.get(suffix)


def by_bytes(data: bytes, source: str) -> str:
    """The format that the first bytes tell; what has no mark of its own is text.

    Examples
    --------
    >>> by_bytes(b"PAR1...", "table"), by_bytes(b"a,b", "table")
    ('parquet', 'csv')
    """
    for magic, name in MAGIC:
        if data.startswith(magic):
            return name
    for magic, suffix in REFUSED_MAGIC:
        if data.startswith(magic):
            raise FileProblem(f"{where(source)} is {REFUSED_SUFFIXES[suffix]}.")
    return _of_archive(data, source) if data.startswith(b"PK\x03\x04") else "csv"


def _of_archive(data: bytes, source: str) -> str:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise FileProblem(f"{where(source)} is a damaged zip archive: make the file again.") from None
    if any(name.endswith(".npy") for name in members):
        return "npz"
    if any(name.startswith("xl/") for name in members):
        return "excel"
    raise FileProblem(
        f"{where(source)} is a zip archive, but no .npz and no .xlsx: take the table out of it."
    )
