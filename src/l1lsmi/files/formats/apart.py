"""HDF5 read by a process of its own: on a damaged file its library can crash, along with whoever called it.

What comes back is plain: numbers as .npy, columns as Arrow, words as JSON. Nothing is pickled on the way, as
the process has had a file in its hands that may be out to take it over.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from l1lsmi._processes import interruptions_held
from l1lsmi.files import memory
from l1lsmi.files.libraries import arrow
from l1lsmi.files.problem import FileProblem, damage, where
from l1lsmi.files.table import Values

#: Not a module to run, as only this way the process finds modules where this one does.
START = "import sys; sys.path[:] = sys.argv[1:]; from l1lsmi.files.formats.apart import serve; serve()"
#: Whether a process of its own is used.
APART = True
#: Bytes that go through a pipe at a time.
CHUNK = 1 << 24
#: Memory that the process has in any case, beyond what its libraries take.
LEAST_ROOM = 1 << 30


@dataclass
class Contents:
    """What was found in a file.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Numbers, words of dtype "U", or objects: words and numbers, None where missing.
    words : list of str
    table : pyarrow.Table or None
    """

    arrays: dict[str, Values]
    words: list[str] = field(default_factory=list)
    table: Any = None


def contents(module: str, data: bytes, source: str) -> Contents:
    """What the ``contents(data, source)`` of a format finds in a file of HDF5.

    Parameters
    ----------
    module : str
        The file of this folder that has the function.
    data : bytes
    source : str
        For messages.
    """
    if not (APART and sys.executable):
        return _here(module, data, source)
    path = [entry for entry in sys.path if isinstance(entry, str)]
    try:
        with interruptions_held():
            process = subprocess.Popen(
                [sys.executable, "-c", START, *path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
    except OSError:  # where no process can be had
        return _here(module, data, source)
    with process:
        try:
            return _asked(process, {"module": module, "source": source, "room": memory.at_hand()}, data)
        except FileProblem:
            raise
        except (EOFError, ValueError, KeyError, TypeError, OverflowError):
            raise FileProblem(
                f"{where(source)} is damaged: the HDF5 library could not read it; make the file again."
            ) from None
        finally:
            process.kill()


def _here(module: str, data: bytes, source: str) -> Contents:
    found: Contents = importlib.import_module(f"l1lsmi.files.formats.{module}").contents(data, source)
    return found


# -- the process that asks --------------------------------------------------------------------


def _asked(process: subprocess.Popen[bytes], request: dict[str, Any], data: bytes) -> Contents:
    assert process.stdin is not None and process.stdout is not None
    with suppress(BrokenPipeError):  # it is gone, which its answer will tell
        # It stays open: when it closes, the other process ends.
        _send(process.stdin, json.dumps(request).encode())
        _send(process.stdin, data)
        process.stdin.flush()
    answer = json.loads(_received(process.stdout))
    if "problem" in answer:
        raise FileProblem(answer["problem"])
    if "failure" in answer:
        raise RuntimeError(answer["failure"])
    found = Contents({}, answer["words"])
    for name, words, shape in answer["arrays"]:
        if words is None:
            block = io.BytesIO(_received(process.stdout))
            found.arrays[name] = np.lib.format.read_array(block, allow_pickle=False)
        else:
            array = np.empty(len(words), dtype=object)
            array[:] = words
            found.arrays[name] = array.reshape(shape)
    if answer["table"]:
        with damage(request["source"], "HDF5"):
            found.table = arrow().ipc.open_stream(_received(process.stdout)).read_all()
            found.table.validate(full=True)
    return found


def _send(stream: IO[bytes], data: bytes | memoryview) -> None:
    stream.write(len(data).to_bytes(8, "little"))
    view = memoryview(data)
    for start in range(0, len(view), CHUNK):
        stream.write(view[start : start + CHUNK])


def _received(stream: IO[bytes]) -> bytes:
    size = int.from_bytes(_exactly(stream, 8), "little")
    if size > max(memory.at_hand(), LEAST_ROOM):
        raise EOFError  # no answer has this size
    return _exactly(stream, size)


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


# -- the process that reads -------------------------------------------------------------------


def serve() -> None:
    """Read one file for the process that started this one, and end."""
    request = json.loads(_received(sys.stdin.buffer))
    data = _received(sys.stdin.buffer)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Nothing that a library prints comes between the parts of the answer.
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    blocks: list[bytes | memoryview] = []
    try:
        importlib.import_module(f"l1lsmi.files.formats.{request['module']}").load()
        room = int(request["room"])
        memory.at_hand = lambda: room
        _limit_memory(room)
        blocks = _packed(_here(request["module"], data, request["source"]))
    except FileProblem as problem:
        blocks = [json.dumps({"problem": str(problem)}).encode()]
    except MemoryError:
        words = f"{where(request['source'])} does not fit into memory: keep fewer rows or columns of it."
        blocks = [json.dumps({"problem": words}).encode()]
    except Exception:
        blocks = [json.dumps({"failure": traceback.format_exc()}).encode()]
    with suppress(OSError):
        for block in blocks:
            _send(answer, block)
        answer.flush()
    os._exit(0)  # the thread cannot be ended otherwise


def _packed(found: Contents) -> list[bytes | memoryview]:
    """The parts of an answer: what they are, and one part for each."""
    header: dict[str, Any] = {"words": found.words, "arrays": [], "table": found.table is not None}
    blocks: list[bytes | memoryview] = []
    for name, values in found.arrays.items():
        if values.dtype.kind == "O":
            header["arrays"].append((name, values.ravel().tolist(), values.shape))
            continue
        header["arrays"].append((name, None, values.shape))
        stream = io.BytesIO()
        np.lib.format.write_array(stream, values, allow_pickle=False)
        blocks.append(stream.getbuffer())
    if found.table is not None:
        sink = arrow().BufferOutputStream()
        with arrow().ipc.new_stream(sink, found.table.schema) as writer:
            writer.write_table(found.table)
        blocks.append(memoryview(sink.getvalue()))
    return [json.dumps(header).encode(), *blocks]


def _end_with_parent() -> None:
    os.read(0, 1)
    os._exit(1)


def _limit_memory(room: int) -> None:
    """What a file takes beyond what it announces is refused by the system."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm") as about:
            taken = int(about.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        most = taken + max(room, LEAST_ROOM)
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
