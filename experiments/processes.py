"""Start of worker processes; quick to import, so that the fork server can be started first."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing import forkserver

#: A fork server imports everything once; without one (Windows), every process does.
START = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
CONTEXT = multiprocessing.get_context(START)
#: One thread per process, because trials run in parallel.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


def prepare() -> None:
    """Start the fork server, which imports while this process continues."""
    if START == "forkserver":
        before = {name: os.environ.get(name) for name in ONE_THREAD}
        os.environ.update(ONE_THREAD)
        CONTEXT.set_forkserver_preload(["experiments.workers"])
        forkserver.ensure_running()
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value
