"""Downloads from OpenML and the UCI archive, with progress and checksums."""

from __future__ import annotations

import hashlib
import http.client
import json
import tempfile
import urllib.error
import urllib.request
from typing import IO

from l1lsmi._progress import Progress
from l1lsmi.datasets.dataset import Dataset, check_downloaded
from l1lsmi.datasets.entry import Archive, Entry, OpenML
from l1lsmi.datasets.recipes import prepare
from l1lsmi.datasets.tables import read_archive, read_arff

OPENML_API = "https://www.openml.org/api/v1/json/data/"
UCI_ARCHIVE = "https://archive.ics.uci.edu/"
TIMEOUT = 60.0
CHUNK = 1 << 20
#: Both of them turn away programs that do not say who they are.
HEADERS = {"User-Agent": "l1lsmi (Python package)"}


def fetch(name: str, entry: Entry, verbose: int = 0) -> Dataset:
    """Download a data set and make of it what the paper used.

    Parameters
    ----------
    name : str
    entry : Entry
    verbose : int
        0 shows no progress.

    Returns
    -------
    Dataset

    Raises
    ------
    ConnectionError
        If a server cannot be reached, refuses, or stops half-way.
    ValueError
        If what came is not what was expected.
    """
    if isinstance(entry.source, OpenML):
        return _from_openml(name, entry, entry.source, verbose)
    if isinstance(entry.source, Archive):
        return _from_archive(name, entry, entry.source, verbose)
    raise ValueError(f"{name} cannot be downloaded: {entry.note}")


def _from_openml(name: str, entry: Entry, source: OpenML, verbose: int) -> Dataset:
    address = f"{OPENML_API}{source.id}"
    with tempfile.TemporaryFile() as file:
        _download(address, file, name, verbose=0)
        try:
            about = json.load(file)["data_set_description"]
            url, md5 = str(about["url"]), str(about["md5_checksum"]).lower()
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{address} does not say where the file is and what its checksum is.") from error
    with tempfile.TemporaryFile() as file:
        digests = _download(url, file, name, verbose)
        _compare("md5", md5, digests["md5"], url)
        try:
            table = read_arff(file.read().decode("utf-8", errors="replace"))
            data = prepare(name, table, entry, f"OpenML {source.id}, {url} (md5 {md5})")
            check_downloaded(data, entry)
        except ValueError as error:
            raise _unexpected(url, name, error) from error
    return data


def _from_archive(name: str, entry: Entry, source: Archive, verbose: int) -> Dataset:
    url = UCI_ARCHIVE + source.path
    with tempfile.TemporaryFile() as file:
        sha256 = _download(url, file, name, verbose)["sha256"]
        if source.sha256:
            _compare("sha256", source.sha256, sha256, url)
        try:
            table = read_archive(file, source)
            data = prepare(name, table, entry, f"UCI archive, {url} (sha256 {sha256})")
            check_downloaded(data, entry)
        except ValueError as error:
            raise _unexpected(url, name, error) from error
    return data


def _compare(kind: str, expected: str, found: str, url: str) -> None:
    if found != expected:
        raise ValueError(
            f"{url} has {kind} {found}, and {expected} is expected: it was damaged on the way or replaced at "
            "its source. Try again; if it stays so, put a good copy into a directory."
        )


def _unexpected(url: str, name: str, error: ValueError) -> ValueError:
    return ValueError(f"{url} is not the {name} that is expected: {error}.")


def _download(url: str, file: IO[bytes], name: str, verbose: int) -> dict[str, str]:
    """Write what is at an address to a file, and work out its checksums."""
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{url} is no address on the web.")
    try:
        request = urllib.request.Request(url, headers=HEADERS)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
            return _copy(response, file, name, verbose)
    except urllib.error.HTTPError as error:
        error.close()
        raise ConnectionError(f"{url} answers {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", None) or error
        raise ConnectionError(f"{url} cannot be read ({reason})") from error


def _copy(response: http.client.HTTPResponse, file: IO[bytes], name: str, verbose: int) -> dict[str, str]:
    stated = response.headers.get("Content-Length", "")
    total = int(stated) if stated.isdigit() else None
    # What OpenML states is an md5; what we keep and what others state of the archive is a sha256.
    digests = {"md5": hashlib.md5(usedforsecurity=False), "sha256": hashlib.sha256()}
    n_read = 0
    chunks = None if total is None else -(-total // CHUNK)
    with Progress(chunks, verbose, unit="megabyte", task=f"downloading {name}") as progress:
        while chunk := response.read(CHUNK):
            n_read += len(chunk)
            file.write(chunk)
            for digest in digests.values():
                digest.update(chunk)
            progress.advance(detail=name)
    # The standard library takes a connection that breaks off for the end of the file.
    if total is not None and n_read != total:
        raise OSError(f"it broke off after {n_read} of {total} bytes")
    file.seek(0)
    return {kind: digest.hexdigest() for kind, digest in digests.items()}
