"""Python subprocesses that Ctrl-C does not interrupt and that end with this process."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Run with -c rather than -m, so that a process searches modules where this one does. What is imported stays
#: until the end: garbage collections would be in vain.
CODE = (
    "import gc, importlib, sys; sys.path[:] = sys.argv[2:]; "
    "gc.disable(); module = importlib.import_module(sys.argv[1]); gc.freeze(); gc.enable(); module.serve()"
)
#: The number of a request to the system, in linux/prctl.h.
PR_SET_PDEATHSIG = 1


@contextmanager
def sigint_blocked() -> Iterator[None]:
    """Block SIGINT in subprocesses that are started inside, for as long as they run.

    Ctrl-C goes to all processes of a terminal, and a process inherits its mask of blocked signals. Ignoring
    the signal in the code of a subprocess would be too late, as it may come while libraries are imported.
    This process gets a SIGINT at the end of the block.

    Examples
    --------
    >>> import subprocess, sys
    >>> code = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('still running')"
    >>> with sigint_blocked():
    ...     process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    >>> process.communicate()[0].strip()
    'still running'
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    received: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    # The mask is that of one thread: a signal that another one gets is handled in the main thread.
    handler = signal.signal(signal.SIGINT, lambda number, _: received.append(number)) if is_main else None
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        if received:
            signal.raise_signal(signal.SIGINT)


def start_python(module: str) -> subprocess.Popen[bytes]:
    """Start a Python process that imports a module and calls its function ``serve``.

    The two processes talk through the standard input and output of the new one, which prints nothing else:
    what it writes to standard error is dropped. It runs on after a Ctrl-C; `exit_with_parent` ends it.

    Parameters
    ----------
    module : str
        Full name.

    Raises
    ------
    OSError
        This system starts no processes.
    """
    path = [entry for entry in sys.path if isinstance(entry, str)]
    with sigint_blocked():
        return subprocess.Popen(
            [sys.executable, "-c", CODE, module, *path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


def exit_with_parent() -> None:
    """End this process when the thread that started it ends, however that happens.

    A thread waits until the standard input is closed. It cannot run while C code holds the lock of the
    interpreter, as HDF5 does, so that on Linux the system kills the process.

    Called once all input has been read.
    """

    def wait() -> None:
        os.read(0, 1)
        os._exit(1)

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    threading.Thread(target=wait, daemon=True).start()
