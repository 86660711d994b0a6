"""Cases one after another, in processes that may hang or end."""

from __future__ import annotations

import multiprocessing
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fuzz.calls import make_case
from fuzz.damaged import make_file
from fuzz.invariances import make_invariance
from fuzz.judge import Failure, judged
from l1lsmi.files import FileProblem

PARTS: dict[str, Any] = {"fits": make_case, "files": make_file, "invariances": make_invariance}
#: C libraries crash on some damaged files, and read others for ever: that is what the sandbox is for. Files
#: that end their process or hang are read once more, in a sandbox, as users do.
AGAIN: dict[str, Any] = {"sandbox": partial(make_file, sandboxed=True)}
ENDED, HANG = "the process ended", "hang"
#: Seconds after which a case hangs, processor time of other programs included.
LIMIT = 60.0


def run_case(part: str, seed: int, folder: Path) -> tuple[str, Failure | None]:
    """What the case of a seed is, and what it does that is not allowed."""
    told, call = {**PARTS, **AGAIN}[part](seed, folder)
    return told, judged(call, (FileProblem,) if part in ("files", "sandbox") else (ValueError, TypeError))


def _work(connection: Connection, folder: str) -> None:
    while (asked := connection.recv()) is not None:
        connection.send(run_case(*asked, Path(folder)))


class Worker:
    """A process that runs one case after another, and is replaced where a case hangs or ends it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.case, self.since = ("", 0), time.monotonic()
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, self._folder))
        self._process.start()
        theirs.close()

    def ask(self, part: str, seed: int) -> None:
        """Begin a case."""
        self.case, self.since = (part, seed), time.monotonic()
        self.connection.send(self.case)

    def answer(self, is_ready: bool) -> tuple[str, Failure | None] | None:
        """What came out, None while the case runs."""
        if is_ready:
            try:
                found: tuple[str, Failure | None] = self.connection.recv()
                return found
            except (EOFError, ConnectionError):
                self._process.join()
                failure = Failure(ENDED, f"exit code {self._process.exitcode}")
        elif time.monotonic() - self.since > LIMIT:
            failure = Failure(HANG, f"no end within {LIMIT:.0f} seconds")
        else:
            return None
        self.stop()
        self._start()
        return "", failure

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self.connection.close()


def _cases(parts: list[str], first: int) -> Iterator[tuple[str, int]]:
    seed = first
    while True:
        yield from ((part, seed) for part in parts)
        seed += 1


def attack(parts: list[str], first: int, minutes: float, jobs: int) -> dict[str, list[str]]:
    """Run cases until the time is over: failures by their kind."""
    found: dict[str, list[str]] = defaultdict(list)
    cases, end, n_cases = _cases(parts, first), time.monotonic() + 60 * minutes, 0
    with TemporaryDirectory() as folder:
        for i in range(jobs):
            (Path(folder) / str(i)).mkdir()
        workers = [Worker(f"{folder}/{i}") for i in range(jobs)]
        for worker in workers:
            worker.ask(*next(cases))
        while time.monotonic() < end:
            ready = wait([worker.connection for worker in workers], timeout=1.0)
            for worker in workers:
                answer = worker.answer(worker.connection in ready)
                if answer is None:
                    continue
                n_cases, (told, failure) = n_cases + 1, answer
                part, seed = worker.case
                if failure is not None and part == "files" and failure.kind in (ENDED, HANG):
                    worker.ask("sandbox", seed)
                    continue
                if failure is not None:
                    if failure.kind not in found:
                        print(f"{failure.kind}\n  {failure.told[:300]}\n  {told}", flush=True)
                        print(f"  python -m fuzz --part {part} --seed {seed}", flush=True)
                    found[failure.kind].append(f"--part {part} --seed {seed}")
                worker.ask(*next(cases))
        for worker in workers:
            worker.stop()
    print(f"\n{n_cases} cases, {sum(map(len, found.values()))} failures of {len(found)} kinds")
    for kind, commands in sorted(found.items(), key=lambda item: -len(item[1])):
        print(f"{len(commands):5}  {kind}  {commands[0]}")
    return found
