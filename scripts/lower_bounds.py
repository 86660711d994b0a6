"""Print the oldest versions that pyproject.toml allows, as constraints for pip: ``make oldest``.

Only requirements of the package and of the extra ``test`` are taken. What these require in turn is not
constrained, as pyproject.toml says nothing of it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
EXTRA = "test"
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[[\w,]+\])?>=(?P<version>[\d.]+)(,<[\d.]+)?")


class Failure(Exception):
    """What cannot be done, in a sentence."""


def requirements(project: dict[str, Any], extra: str) -> list[str]:
    """Requirements of an extra, with those of the extras of this package that it names."""
    found: list[str] = []
    for requirement in project["optional-dependencies"][extra]:
        inner = re.fullmatch(rf"{project['name']}\[(.+)\]", requirement)
        found += (
            [one for name in inner[1].split(",") for one in requirements(project, name)]
            if inner
            else [requirement]
        )
    return found


def oldest(project: dict[str, Any], extra: str = EXTRA) -> list[str]:
    """Each requirement with its lower bound as the only version."""
    lines = set()
    for requirement in [*project["dependencies"], *requirements(project, extra)]:
        match = REQUIREMENT.fullmatch(requirement)
        if match is None:
            raise Failure(f"{requirement!r} in pyproject.toml has no lower bound: write it as name>=version.")
        lines.add(f"{match['name']}=={match['version']}")
    return sorted(lines)


def check_python(project: dict[str, Any], running: tuple[int, int]) -> None:
    """Refuse a newer Python, for which the oldest versions were never built."""
    needed = project["requires-python"].removeprefix(">=")
    if ".".join(map(str, running)) != needed:
        raise Failure(
            f"The oldest versions need Python {needed}, and this is {running[0]}.{running[1]}: "
            f"make oldest PYTHON=python{needed}."
        )


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    try:
        check_python(project, sys.version_info[:2])
        print(*oldest(project), sep="\n")
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
