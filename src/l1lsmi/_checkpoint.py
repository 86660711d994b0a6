"""A file that keeps what a search has found so far: named results as plain data, written whole or not at all.

The first line is a JSON object that says what the file is, of which data and parameters, and the SHA-256 of
the rest, which is a JSON object of results by their keys. Numbers come back exactly as they were: floats are
written with as many digits as they need, and arrays are the bytes they are made of.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np

from l1lsmi._atomic_file import check_writable, write_atomically

#: The format of the file; another number is refused.
FORMAT = 1
NAME = "l1lsmi checkpoint"
#: Seconds between two writes, and how many times longer than a write they are at least.
SECONDS = 1.0
RARELY = 20
#: Data types of arrays, as they are in the file.
_DTYPES = ("<f8", "<f4", "<i8", "<i4", "|b1")

Key = tuple[str, ...]
T = TypeVar("T")


class CheckpointError(ValueError):
    """A checkpoint that cannot be used: not one, damaged, or of other data, parameters or another version."""


class Codec:
    """Turns results into plain JSON values and back.

    None, truth values, numbers, text, arrays, lists, tuples, dicts with text as keys, and records of the
    given types; nothing else can be written, and nothing else can be read.

    Parameters
    ----------
    records : type
        Named tuples and dataclasses.
    """

    def __init__(self, *records: type) -> None:
        self._records = {record.__name__: record for record in records}

    def record(self, cls: type[T]) -> type[T]:
        """Decorator of a named tuple or dataclass that can be kept, too."""
        self._records[cls.__name__] = cls
        return cls

    def encode(self, value: Any) -> Any:
        """A value as JSON has them."""
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, np.generic):
            return self.encode(value.item())
        if isinstance(value, np.ndarray):
            return {"array": _packed(value)}
        if type(value).__name__ in self._records:
            parts = value if isinstance(value, tuple) else [getattr(value, f.name) for f in fields(value)]
            return {type(value).__name__: [self.encode(part) for part in parts]}
        if isinstance(value, list | range):
            return [self.encode(part) for part in value]
        if isinstance(value, tuple):
            return {"tuple": [self.encode(part) for part in value]}
        if isinstance(value, Mapping):
            return {"dict": {str(name): self.encode(part) for name, part in value.items()}}
        raise TypeError(f"{type(value).__name__} cannot be stored in a checkpoint.")

    def decode(self, value: Any) -> Any:
        """The value that `encode` was given."""
        if isinstance(value, list):
            return [self.decode(part) for part in value]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        if kind == "array":
            return _unpacked(*content)
        if kind == "tuple":
            return tuple(self.decode(part) for part in content)
        if kind == "dict":
            return {name: self.decode(part) for name, part in content.items()}
        record = self._records[kind]
        parts = [self.decode(part) for part in content]
        if not is_dataclass(record):
            return record(*parts)
        return record(**{f.name: part for f, part in zip(fields(record), parts, strict=True)})


def _packed(values: np.ndarray[Any, Any]) -> list[Any]:
    if values.dtype.kind == "u" and values.dtype.itemsize < 8:
        values = values.astype(np.int64)
    little = values.dtype.newbyteorder("<") if values.dtype.itemsize > 1 else values.dtype
    if little.str not in _DTYPES:
        raise TypeError(f"An array of {values.dtype} cannot be stored in a checkpoint.")
    data = np.ascontiguousarray(values, dtype=little).tobytes()
    return [little.str, list(values.shape), base64.b64encode(data).decode("ascii")]


def _unpacked(dtype: str, shape: list[int], data: str) -> np.ndarray[Any, Any]:
    if dtype not in _DTYPES:
        raise ValueError("an array of another data type")
    content = base64.b64decode(data, validate=True)
    if any(size < 0 for size in shape) or len(content) != math.prod(shape) * np.dtype(dtype).itemsize:
        raise ValueError("an array of another size")
    native = np.dtype(dtype).newbyteorder("=")
    # A copy, which can be written to.
    return np.frombuffer(content, dtype=dtype).reshape(shape).astype(native)


class Checkpoint:
    """Results by their keys, in memory or also in a file.

    Parameters
    ----------
    path : str, path or None
        The file, which is read if it exists; None keeps results in memory alone.
    package : str
        Version of this package: another one may search in another way.

    Attributes
    ----------
    identity : dict or None
        Parameters and data that the results belong to, each by names.
    """

    def __init__(self, path: str | os.PathLike[str] | None, package: str) -> None:
        self.path = path
        self.package = package
        self.identity: dict[str, dict[str, str]] | None = None
        self._pieces: dict[str, str] = {}
        self._lock = RLock()
        self._is_new = False
        self._written, self._took = time.monotonic(), 0.0
        if path is not None:
            try:
                if str(path) and Path(path).exists():
                    self._read(Path(path))
                check_writable(path)
            except CheckpointError:
                raise
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or "not a path"
                raise CheckpointError(
                    f"checkpoint={str(path)!r} cannot be used ({why}): pass the path of a file in a folder "
                    "that exists and can be written to."
                ) from None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=RLock())

    def __contains__(self, key: Key) -> bool:
        return _text(key) in self._pieces

    def __len__(self) -> int:
        return len(self._pieces)

    def get(self, key: Key, codec: Codec) -> Any:
        """The result that a key has."""
        try:
            return codec.decode(json.loads(self._pieces[_text(key)]))
        except (ValueError, TypeError, LookupError, RecursionError, AttributeError) as error:
            raise self._damaged() from error

    def put(self, key: Key, value: Any, codec: Codec) -> None:
        """Keep a result, and write the file if that was long ago."""
        text = json.dumps(codec.encode(value), separators=(",", ":"))
        with self._lock:
            self._pieces[_text(key)] = text
            self._is_new = True
            if time.monotonic() - self._written >= max(SECONDS, RARELY * self._took):
                self.write()

    def names(self, *start: str) -> list[Key]:
        """Keys that begin in a way."""
        return [key for key in map(_key, self._pieces) if key[: len(start)] == start]

    def forget(self, *start: str) -> None:
        """Drop the results whose keys begin in a way."""
        with self._lock:
            for key in self.names(*start):
                del self._pieces[_text(key)]

    def write(self) -> None:
        """Write what is new; where that fails there is a warning, and the search goes on."""
        with self._lock:
            if self.path is None or self.identity is None or not self._is_new:
                return
            started = time.monotonic()
            lines = ",\n".join(f"{json.dumps(key)}:{text}" for key, text in self._pieces.items())
            data = b"{" + lines.encode("utf-8") + b"}\n"
            head = {
                "file": NAME,
                "format": FORMAT,
                "package": self.package,
                **self.identity,
                "sha256": hashlib.sha256(data).hexdigest(),
            }
            try:
                write_atomically(self.path, json.dumps(head).encode("utf-8") + b"\n" + data)
                self._is_new = False
            except OSError as error:
                told = f"checkpoint={str(self.path)!r} could not be written: {error.strerror}."
                warnings.warn(told, RuntimeWarning, stacklevel=2)
            self._written = time.monotonic()
            self._took = self._written - started

    def identify(self, identity: dict[str, dict[str, str]]) -> None:
        """Say what the results belong to; those of a file must belong to the same, others are dropped.

        Parameters
        ----------
        identity : dict of dict of str
            Under "parameters" and "data", each value by its name.
        """
        if self.identity is None:
            self.identity = identity
        elif self.path is None and self.difference(identity) is not None:
            self._pieces, self.identity = {}, identity
        elif (differs := self.difference(identity)) is not None:
            raise CheckpointError(
                f"checkpoint={str(self.path)!r} belongs to another fit: {differs}. Pass another path, or "
                "delete the file to start over."
            )

    def difference(self, identity: dict[str, dict[str, str]]) -> str | None:
        """What differs from what the results belong to, None where nothing does."""
        assert self.identity is not None
        known, given = self.identity["parameters"], identity["parameters"]
        for name in [name for name in {**known, **given} if known.get(name) != given.get(name)]:
            there, here = (some.get(name, "not a parameter") for some in (known, given))
            return f"{name} was {there} there and is {here} here"
        known, given = self.identity["data"], identity["data"]
        for name in [name for name in {**known, **given} if known.get(name) != given.get(name)]:
            if name in ("rows", "columns"):
                return f"X had {known.get(name)} {name} there and has {given.get(name)} here"
            return f"{name} is not the same"
        return None

    def _read(self, path: Path) -> None:
        head, _, body = path.read_bytes().partition(b"\n")
        try:
            given = json.loads(head)
            is_ours = isinstance(given, dict) and given.get("file") == NAME
        except (ValueError, RecursionError):
            is_ours = False
        if not is_ours:
            # A damaged first line still says so.
            if NAME.encode() in head[:100]:
                raise self._damaged()
            raise CheckpointError(
                f"checkpoint={str(path)!r} is not a checkpoint: pass the path of a checkpoint, or a path "
                "that does not exist yet."
            )
        if given.get("format") != FORMAT:
            raise CheckpointError(
                f"checkpoint={str(path)!r} has the format {given.get('format')}, but this version of l1lsmi "
                f"reads the format {FORMAT}: pass another path, or delete the file to start over."
            )
        if given.get("package") != self.package:
            raise CheckpointError(
                f"checkpoint={str(path)!r} was written by version {given.get('package')} of l1lsmi, but this "
                f"is version {self.package}, whose search may differ: pass another path, or delete the file "
                "to start over."
            )
        if given.get("sha256") != hashlib.sha256(body).hexdigest():
            raise self._damaged()
        try:
            # Kept as text: most results are asked for once, and all are written again.
            lines = body.decode("utf-8").strip()[1:-1].split(",\n")
            for line in lines if lines != [""] else []:
                key, _, text = line.partition('":')
                self._pieces[json.loads(key + '"')] = text
            self.identity = {name: _texts(given[name]) for name in ("parameters", "data")}
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise self._damaged() from error

    def _damaged(self) -> CheckpointError:
        return CheckpointError(
            f"checkpoint={str(self.path)!r} is damaged: restore it from a copy, or delete it to start over."
        )


def digest(value: Any, codec: Codec) -> str:
    """A short text that differs where values do."""
    text = json.dumps(codec.encode(value), separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:20]


def _text(key: Key) -> str:
    return "/".join(key)


def _key(text: str) -> Key:
    return tuple(text.split("/"))


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in values.items()}
