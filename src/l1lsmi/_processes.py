"""Subprocesses that Ctrl-C does not interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


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
