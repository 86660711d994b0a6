"""Helper processes: Ctrl-C is for the process that a person sees."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptions_held() -> Iterator[None]:
    """Processes that are started inside never see Ctrl-C, which goes to all that share a terminal.

    A process inherits which signals wait. To ignore them in its own code would come too late: it may be
    interrupted while it loads its libraries. In this process an interruption waits until the end.

    Examples
    --------
    >>> import subprocess, sys
    >>> code = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('still here')"
    >>> with interruptions_held():
    ...     process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    >>> process.communicate()[0].strip()
    'still here'
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
