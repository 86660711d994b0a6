"""Published copies of datasets, downloaded from OpenML or the UCI archive into a cache."""

from __future__ import annotations

import http.client
import io
import os
import urllib.error
import warnings
import zipfile
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING

import ncompress
import pandas as pd
import pooch
import requests
from sklearn.datasets import fetch_openml

from experiments.data.dataset import Dataset, check_size
from experiments.data.prepare import prepare
from experiments.data.recipe import UCI, OpenML

if TYPE_CHECKING:
    from experiments.real import Real

NETWORK_ERRORS = (
    requests.RequestException,
    urllib.error.URLError,
    http.client.HTTPException,
    TimeoutError,
)
UCI_ARCHIVE = "https://archive.ics.uci.edu/"
#: The first bytes of a file written by the Unix program compress.
COMPRESS_MAGIC = b"\x1f\x9d"


def cache_directory(given: str | os.PathLike[str] | None) -> Path:
    """Directory of downloads: as given, from the environment variable, or that of the operating system."""
    return Path(given or os.environ.get("L1LSMI_CACHE") or pooch.os_cache("l1lsmi"))


def load_published(real: Real, cache: Path, *, download: bool = True, verbose: int = 0) -> Dataset:
    """Load a published copy, downloaded unless it is in the cache.

    Raises
    ------
    FileNotFoundError
        If it is not in the cache and must not be downloaded.
    ConnectionError
        If a server cannot be reached, refuses, or stops before the end.
    ValueError
        If the file is not the expected one.
    """
    read = _from_openml if isinstance(real.source, OpenML) else _from_uci
    try:
        return read(real, cache, download, verbose)
    except urllib.error.HTTPError as error:
        error.close()
        raise ConnectionError(f"{error.url}: {error.code} {error.reason}") from error
    except NETWORK_ERRORS as error:
        raise ConnectionError(_cause(error)) from error


def _cause(error: Exception) -> Exception:
    """The innermost of nested exceptions of urllib3."""
    inner = getattr(error, "reason", None) or (error.args and error.args[-1])
    return _cause(inner) if isinstance(inner, Exception) else error


def _from_uci(real: Real, cache: Path, download: bool, verbose: int) -> Dataset:
    """A dataset of the UCI archive; what is not the expected table is not kept."""
    source: UCI = real.source
    pooch.get_logger().setLevel("INFO" if verbose else "WARNING")
    archive = pooch.create(
        path=cache,
        base_url=UCI_ARCHIVE,
        registry={source.path: f"sha256:{source.sha256}" if source.sha256 else None},
        retry_if_failed=3,
    )
    # The archive refuses clients without a name.
    http = pooch.HTTPDownloader(progressbar=bool(verbose), headers={"User-Agent": "l1lsmi"})
    url = archive.get_url(source.path)
    try:
        path = Path(archive.fetch(source.path, downloader=http if download else _refuse))
    except ValueError as error:
        raise ValueError(f"{url} does not have the sha256 checksum {source.sha256}") from error
    origin = f"{url} (sha256 {pooch.file_hash(path)})"
    try:
        return check_size(prepare(read_uci(path, source), real, origin), real)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        path.unlink(missing_ok=True)
        raise ValueError(f"{url} is not the expected table: {_reason(error)}") from error


def _refuse(url: str, *args: object) -> None:
    raise FileNotFoundError(url)


def _from_openml(real: Real, cache: Path, download: bool, verbose: int) -> Dataset:
    """A dataset of OpenML; it is moved into the cache once it is complete and checked."""
    folder = cache / f"openml-{real.source.id}"
    if folder.exists():
        return _openml_dataset(real, folder)
    if not download:
        raise FileNotFoundError(folder)
    cache.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=cache) as temporary:
        data = _openml_dataset(real, Path(temporary) / "complete")
        with suppress(OSError):  # another process was faster
            os.rename(Path(temporary) / "complete", folder)
    return data


def _openml_dataset(real: Real, data_home: Path) -> Dataset:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of failed attempts; the last one raises
            found = fetch_openml(
                data_id=real.source.id,
                data_home=data_home,
                target_column=None,
                as_frame=False,  # a frame would sort the categories
                parser="liac-arff",
            )
        table = pd.DataFrame(found.data, columns=found.feature_names)
        for name, words in found.categories.items():
            table[name] = pd.Categorical.from_codes(table[name].fillna(-1).astype(int), words)
        origin = f"OpenML {real.source.id}, {found.details['url']} (md5 {found.details['md5_checksum']})"
        return check_size(prepare(table, real, origin), real)
    except (OSError, http.client.HTTPException):
        raise
    except Exception as error:  # the exceptions of the ARFF parser have no public base class
        raise ValueError(f"OpenML {real.source.id} is not the expected table: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    text = str(error)
    return "its md5 checksum is wrong" if "md5 checksum" in text else " ".join(text.split()).rstrip(".")


def read_uci(path: Path, source: UCI) -> pd.DataFrame:
    """The table of a file of the UCI archive."""
    options = {
        "sep": source.delimiter or r"\s+",
        "skipinitialspace": True,
        "skiprows": source.skip,
        "header": 0 if source.header else None,
        "index_col": False,
        "encoding": "latin-1",
        "float_precision": "round_trip",
    }
    if not source.members:
        return pd.read_csv(path, **options)
    with zipfile.ZipFile(path) as archive, ExitStack() as stack:
        streams = [stack.enter_context(_member(archive, name)) for name in source.members]
        return pd.concat([pd.read_csv(stream, **options) for stream in streams], ignore_index=True)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    # Archives may have a top folder, and some members are compressed once more.
    for path in archive.namelist():
        if path.rsplit("/", 1)[-1] in (name, f"{name}.Z"):
            member = archive.open(path)
            if member.peek(2)[:2] != COMPRESS_MAGIC:
                return member
            return io.BytesIO(ncompress.decompress(member.read()))
    raise ValueError(f"the archive has no member {name}")
