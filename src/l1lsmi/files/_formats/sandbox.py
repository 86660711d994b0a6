"""Libraries that can crash on a damaged file read it in a process of its own: the sandbox.

The sandbox has limited memory and time. Its answer is data only, numbers as .npy, tables as Arrow and strings
as JSON, and nothing is unpickled, as a hostile file may have taken the process over.
"""

from __future__ import annotations

import faulthandler
import importlib
import io
import json
import math
import os
import subprocess
import sys
import threading
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from l1lsmi._messages import counted, printable
from l1lsmi._processes import exit_with_parent, start_python
from l1lsmi.files import _memory
from l1lsmi.files.problem import FileProblem, file_problems, memory_problem
from l1lsmi.files.table import Values

#: Whether files are read in a sandbox rather than by this process.
ENABLED = True
#: Bytes that are written to a pipe at a time.
CHUNK_SIZE = 1 << 24
#: Bytes that the sandbox may use in any case, beyond what its libraries take.
MIN_MEMORY = 1 << 30
#: Seconds that reading any file may take, and bytes of a file for each of which a second is added.
MIN_SECONDS = 60.0
BYTES_PER_SECOND = 1 << 19
#: Seconds after which a sandbox ends itself that its parent should have ended.
GRACE_SECONDS = 5.0


@dataclass
class Contents:
    """What a file contains.

    Parameters
    ----------
    arrays : dict of str to ndarray
        Numbers, strings of dtype "U", or objects: strings and numbers, None where missing.
    strings : list of str
    table : pyarrow.Table or None
    """

    arrays: dict[str, Values]
    strings: list[str] = field(default_factory=list)
    table: Any = None


def read_contents(module: str, data: bytes, source: str) -> Contents:
    """Call ``read_contents(data, source)`` of a format in a sandbox.

    Parameters
    ----------
    module : str
        The module of this package that has the function, and ``load_libraries()``.
    data : bytes
    source : str
        For messages.
    """
    if not (ENABLED and sys.executable):
        return _read_here(module, data, source)
    try:
        process = start_python(__name__)
    except OSError:  # this system starts no processes
        return _read_here(module, data, source)
    seconds = MIN_SECONDS + len(data) / BYTES_PER_SECOND
    too_late = threading.Event()

    def stop() -> None:
        too_late.set()
        process.kill()

    # C libraries read some damaged files for ever, and nothing but the end of the process stops them.
    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    with process:
        try:
            timer.start()
            memory = _memory.available_memory()
            request = {"module": module, "source": source, "memory": memory, "seconds": seconds}
            return _request(process, request, data)
        except FileProblem:
            raise
        except (EOFError, ValueError, KeyError, TypeError, OverflowError):
            problem = "is damaged: the process that read it crashed"
            if too_late.is_set():
                problem = (
                    f"is probably damaged: it was not read within {counted(math.ceil(seconds), 'second')}"
                )
            raise FileProblem(f"{printable(source)} {problem}; save the file again.") from None
        finally:
            timer.cancel()
            process.kill()


def _read_here(module: str, data: bytes, source: str) -> Contents:
    contents: Contents = importlib.import_module(f"l1lsmi.files._formats.{module}").read_contents(
        data, source
    )
    return contents


# -- this process -----------------------------------------------------------------------------


def _request(process: subprocess.Popen[bytes], request: dict[str, Any], data: bytes) -> Contents:
    assert process.stdin is not None and process.stdout is not None
    with suppress(BrokenPipeError):  # the sandbox has crashed, and reading its answer fails below
        # Not closed, as the sandbox exits when its standard input is closed.
        _send(process.stdin, json.dumps(request).encode())
        _send(process.stdin, data)
        process.stdin.flush()
    answer = json.loads(_receive(process.stdout))
    if "problem" in answer:
        raise FileProblem(answer["problem"])
    if "failure" in answer:
        raise RuntimeError(answer["failure"])
    contents = Contents({}, answer["strings"])
    for name, items, shape in answer["arrays"]:
        if items is None:
            stream = io.BytesIO(_receive(process.stdout))
            contents.arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
        else:
            array = np.empty(len(items), dtype=object)
            array[:] = items
            contents.arrays[name] = array.reshape(shape)
    if answer["table"]:
        import pyarrow as pa

        with file_problems(request["source"], "a table of Arrow"):
            contents.table = pa.ipc.open_stream(_receive(process.stdout)).read_all()
            contents.table.validate(full=True)
    return contents


def _send(stream: IO[bytes], data: bytes | memoryview) -> None:
    stream.write(len(data).to_bytes(8, "little"))
    view = memoryview(data)
    for start in range(0, len(view), CHUNK_SIZE):
        stream.write(view[start : start + CHUNK_SIZE])


def _receive(stream: IO[bytes]) -> bytes:
    size = int.from_bytes(_read_exactly(stream, 8), "little")
    if size > max(_memory.available_memory(), MIN_MEMORY):
        raise EOFError  # no valid answer has this size
    return _read_exactly(stream, size)


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data


# -- the sandbox ------------------------------------------------------------------------------


def serve() -> None:
    """Read one file for the parent process, and exit."""
    request = json.loads(_receive(sys.stdin.buffer))
    data = _receive(sys.stdin.buffer)
    exit_with_parent()
    faulthandler.dump_traceback_later(request["seconds"] + GRACE_SECONDS, exit=True)
    # Libraries print to /dev/null rather than into the answer.
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    blocks: list[bytes | memoryview] = []
    try:
        importlib.import_module(f"l1lsmi.files._formats.{request['module']}").load_libraries()
        available = int(request["memory"])
        _memory.available_memory = lambda: available
        _limit_memory(available)
        blocks = _serialize(_read_here(request["module"], data, request["source"]))
    except FileProblem as problem:
        blocks = [json.dumps({"problem": str(problem)}).encode()]
    except MemoryError:
        blocks = [json.dumps({"problem": str(memory_problem(request["source"]))}).encode()]
    except Exception:
        blocks = [json.dumps({"failure": traceback.format_exc()}).encode()]
    with suppress(OSError):
        for block in blocks:
            _send(answer, block)
        answer.flush()
    os._exit(0)  # the thread still waits for the parent


def _serialize(contents: Contents) -> list[bytes | memoryview]:
    """A header in JSON, and a block for each array of numbers and for the table."""
    header: dict[str, Any] = {"strings": contents.strings, "arrays": [], "table": contents.table is not None}
    blocks: list[bytes | memoryview] = []
    for name, values in contents.arrays.items():
        if values.dtype.kind == "O":
            header["arrays"].append((name, values.ravel().tolist(), values.shape))
            continue
        header["arrays"].append((name, None, values.shape))
        stream = io.BytesIO()
        np.lib.format.write_array(stream, values, allow_pickle=False)
        blocks.append(stream.getbuffer())
    if contents.table is not None:
        import pyarrow as pa

        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, contents.table.schema) as writer:
            writer.write_table(contents.table)
        blocks.append(memoryview(sink.getvalue()))
    return [json.dumps(header).encode(), *blocks]


def _limit_memory(available: int) -> None:
    """Let the system refuse memory beyond what the libraries have taken and what is available."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with open("/proc/self/statm") as statistics:
            used = int(statistics.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        limit = used + max(available, MIN_MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.getrlimit(resource.RLIMIT_AS)[1]))
