"""Matrix products on one thread, for answers that do not depend on the machine."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, ExitStack, contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()


#: What glibc calls its options.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


@contextmanager
def _freed_memory_kept() -> Iterator[None]:
    """Have freed memory kept where the process was started with a limit on that, as workers of Dask are.

    Every array of more than 128 KB would be fresh pages, which takes as long as the arithmetic on them.
    """
    given = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    allocator = _c_library() if given.isdigit() else None
    if allocator is None:
        yield
        return
    allocator.mallopt(_TRIM_THRESHOLD, 2**26)
    allocator.mallopt(_MMAP_THRESHOLD, 2**25)
    try:
        yield
    finally:
        allocator.mallopt(_TRIM_THRESHOLD, int(given))
        allocator.mallopt(_MMAP_THRESHOLD, 2**17)


@cache
def _c_library() -> Any:
    """The C library, where it is one whose allocator can be told what to keep."""
    try:
        library = ctypes.CDLL(None)
        return library if hasattr(library, "mallopt") else None
    except (OSError, TypeError):
        return None


class single_threaded_blas(ContextDecorator):  # noqa: N801
    """Keep matrix products on one thread while the context lasts.

    Sums are then added up in the same order on every machine, so that results do not depend on
    the number of threads; work is spread over restarts instead. The limit is one for the whole
    process: whoever finds it set neither sets nor lifts it. Freed memory is kept meanwhile.

    Ctrl-C may come before the context is left: the limit is then lifted when this object is deleted.
    """

    def __init__(self) -> None:
        self._entered = False

    def _recreate_cm(self) -> single_threaded_blas:
        return single_threaded_blas()

    def __enter__(self) -> None:
        self._entered = True
        _steady.enter(self)

    def __exit__(self, *_: object) -> None:
        _steady.leave(self)
        self._entered = False

    def __del__(self) -> None:
        if self._entered:
            _steady.leave(self)


class _Steady:
    """Who put matrix products on one thread, and how many each library had before."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._owner: int | None = None
        self._before: list[tuple[Any, int]] | None = None
        self._memory = ExitStack()

    @property
    def allowed(self) -> int:
        """Threads that a matrix product may take when the limit is lifted."""
        before = self._before
        return _blas_threads_now() if before is None else max((n for _, n in before), default=1)

    def enter(self, user: object) -> None:
        with self._lock:
            if self._owner is None:
                self._owner = id(user)
                self._before = [(library, library.num_threads or 1) for library in _blas_libraries()]
                self._memory.enter_context(_freed_memory_kept())
                for library, _ in self._before:
                    library.set_num_threads(1)

    def leave(self, user: object) -> None:
        with self._lock:
            if self._owner == id(user):
                self._memory.close()
                for library, n_threads in self._before or ():
                    library.set_num_threads(n_threads)
                self._owner = self._before = None


_steady = _Steady()


def blas_threads() -> int:
    """Threads that a matrix product may take outside of `single_threaded_blas`."""
    return _steady.allowed


def _blas_libraries() -> list[Any]:
    return list(_thread_pools().select(user_api="blas").lib_controllers)


def _blas_threads_now() -> int:
    return max((library.num_threads or 1 for library in _blas_libraries()), default=1)


def call_single_threaded(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with matrix products on one thread, in whatever process it came to."""
    with single_threaded_blas():
        return function(*arguments)
