"""Provenance of results: command, versions, machine and time, in a JSON file beside them."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Collection
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from typing import Any

from experiments.config import Config
from experiments.registry import all_methods
from experiments.store import Row, Store, replace_file

PACKAGES = ("l1lsmi", "numpy", "scipy", "scikit-learn", "pyarrow")
SECONDS_BETWEEN_SAVES = 5.0


class ChangedConfigError(ValueError):
    """Results with different settings would be mixed in one file."""


class Record:
    """The JSON file beside the results; it lists sessions, as a run can be stopped and continued."""

    def __init__(self, store: Store, config: Config, command: str, jobs: int) -> None:
        self.path = store.record
        known = json.loads(self.path.read_text(encoding="utf-8")) if self.path.is_file() else {}
        _refuse_change(known.get("fingerprint"), config.fingerprint(), store)
        self.content = {**known, "fingerprint": config.fingerprint()}
        self._session: dict[str, Any] = {
            "command": command,
            "started": _now(),
            "finished": None,
            "seconds": 0.0,
            "jobs": jobs,
            "versions": versions(_needs(config)),
            "machine": machine(),
            "commit": commit(),
        }

    def begin(self) -> None:
        """Start the session."""
        self._started = time.monotonic()
        self.content["sessions"] = [*self.content.get("sessions", []), self._session]
        self._save()

    def keep_time(self) -> None:
        """Save the elapsed time, so that a killed session has one too."""
        if time.monotonic() - self._saved >= SECONDS_BETWEEN_SAVES:
            self._save()

    def finish(self, rows: list[Row]) -> None:
        """Finish the session."""
        self._session["finished"] = _now()
        sessions = self.content["sessions"]
        counts = {
            status: sum(row["status"] == status for row in rows) for status in ("done", "failed", "skipped")
        }
        for name in ("command", "versions", "machine", "commit", "jobs"):
            self.content[name] = self._session[name]
        self.content |= {
            "started": sessions[0]["started"],
            "finished": self._session["finished"],
            "wall_seconds": 0.0,
            # Time of a single process.
            "work_seconds": round(sum(_seconds(row) for row in rows), 1),
            "rows": {"all": len(rows), **counts},
            "trials": 1 + max((row["trial"] for row in rows), default=-1),
            "seeds": f"derived from ({self.content['fingerprint']['seed']}, dataset, trial, method)",
        }
        self._save()

    def _save(self) -> None:
        self._saved = time.monotonic()
        self._session["seconds"] = round(self._saved - self._started, 1)
        if "wall_seconds" in self.content:
            self.content["wall_seconds"] = round(sum(x["seconds"] for x in self.content["sessions"]), 1)
        replace_file(self.path, (json.dumps(self.content, indent=2) + "\n").encode())


def versions(modules: Collection[str] = ()) -> dict[str, str]:
    """Versions of the packages that the results depend on, and of those of further modules."""
    # The search through all installed packages is slow.
    distributions = packages_distributions() if modules else {}
    further = {name for module in modules for name in distributions.get(module, [])}
    found = {"python": platform.python_version()}
    for package in [*PACKAGES, *sorted(further - set(PACKAGES))]:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a checkout that was not installed
            found[package] = "not installed"
    return found


def machine() -> dict[str, Any]:
    """Processor, number of cores and operating system."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else processor
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def commit() -> str | None:
    """The checked out commit, with a plus sign if files differ from it; None without git."""
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True, timeout=10
        ).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", "../src")
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _needs(config: Config) -> set[str]:
    """Modules that the methods of a run need beyond those of the package."""
    known = all_methods()
    return {module for name in config.methods if name in known for module in known[name].needs}


def _refuse_change(known: dict[str, Any] | None, settings: dict[str, Any], store: Store) -> None:
    if known is None or known == settings:
        return
    changes = [
        f"{name}={known.get(name)!r} there and {value!r} now"
        for name, value in settings.items()
        if known.get(name) != value
    ]
    raise ChangedConfigError(
        f"The results of {store.experiment!r} in {store.directory} were made with other settings "
        f"({'; '.join(changes)}): use the same settings, or choose another directory with --out."
    )


def _seconds(row: Row) -> float:
    return (row["select_seconds"] or 0.0) + (row["evaluate_seconds"] or 0.0)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
