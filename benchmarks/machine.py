"""What a table was measured on."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import version


def describe() -> str:
    """One line of date, processor and versions."""
    processor = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as lines:
            processor = next(
                (x.split(":")[1].strip() for x in lines if x.startswith("model name")), processor
            )
    packages = ", ".join(f"{name} {version(name)}" for name in ("l1lsmi", "numpy", "scipy", "scikit-learn"))
    day = datetime.now(UTC).date()
    return f"{day}, {processor}, {os.cpu_count()} cores, Python {sys.version.split()[0]}, {packages}"
