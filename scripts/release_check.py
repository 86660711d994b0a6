"""Check that what would be published works without the checkout: ``make release-check``.

The steps build an sdist and a wheel twice, compare and check them, install each in a fresh virtual
environment in a temporary folder, and use it there. A step that fails ends the run with status 1 and says
why. The files that passed are in ``dist/``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: A part of the tests that takes about a minute: metadata of the project, reading and writing of files,
#: numerics, and selectors by name.
QUICK_TESTS = (
    "tests/test_release.py",
    "tests/test_architecture.py",
    "tests/test_datasets.py",
    "tests/test_files.py",
    "tests/test_l1_ball.py",
    "tests/test_least_squares.py",
    "tests/test_methods.py",
    "tests/test_written_files.py",
)
#: Folders whose tracked files are all in the sdist.
SDIST_FOLDERS = (
    "src",
    "tests",
    "docs",
    "examples",
    "benchmarks",
    "experiments",
    "scripts",
    "conda",
    "requirements",
)
SMOKE_TEST = """\
import importlib.metadata, pathlib, sys
import l1lsmi
from l1lsmi import L1LSMI
from l1lsmi.datasets import make_xor

assert pathlib.Path(l1lsmi.__file__).is_relative_to(sys.prefix), l1lsmi.__file__
assert l1lsmi.__version__ == importlib.metadata.version("l1lsmi")
X, y = make_xor(200, random_state=0)
assert L1LSMI(2, random_state=0).fit(X, y).get_support(indices=True).tolist() == [0, 1]
rows = ["x0,x1,x2,x3,kind"]
rows += [",".join(f"{v:.3f}" for v in x[:4]) + f",{'ab'[int(c > 0)]}" for x, c in zip(X, y)]
pathlib.Path("small.csv").write_text("\\n".join(rows) + "\\n")
"""


class Failure(Exception):
    """A check that failed, in a sentence."""


# -- what can be checked without building -----------------------------------------------------


def versions() -> dict[str, str]:
    """Return the version that each file states."""
    places = {
        "src/l1lsmi/__init__.py": r'^__version__ = "(.+)"$',
        "CHANGELOG.md": r"^## (\S+)",
        "CITATION.cff": r"^version: (\S+)$",
        "conda/recipe.yaml": r'^  version: "(.+)"$',
    }
    found = {}
    for name, pattern in places.items():
        match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        if match is None:
            raise Failure(f"{name} states no version.")
        found[name] = match[1]
    return found


def check_versions(final: bool) -> str:
    found = versions()
    if len(set(found.values())) != 1:
        raise Failure("The versions differ: " + ", ".join(f"{k} {v}" for k, v in found.items()) + ".")
    first = re.search(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    if final and not (first and re.search(r"\(\d{4}-\d\d-\d\d\)$", first[0])):
        raise Failure("A final release needs its date in CHANGELOG.md: '## 0.1.0 (2026-01-31)'.")
    return f"{next(iter(found.values()))} in {len(found)} files"


def user_extras() -> list[str]:
    """Return the extras that ``all`` unites."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (united,) = extras["all"]
    return re.fullmatch(r"l1lsmi\[(.+)\]", united)[1].split(",")


# -- building ---------------------------------------------------------------------------------


def run(*command: str | Path, cwd: Path, **variables: str) -> str:
    """Run a command, and return what it prints; where it fails, show that."""
    # Nothing of the checkout, and nothing that the user has set for Python, may help.
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    finished = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=kept | variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if finished.returncode:
        print(finished.stdout[-6000:])
        raise Failure(f"Exit status {finished.returncode} of: {' '.join(str(part) for part in command)}")
    return finished.stdout


def check_committed() -> str:
    changed = run("git", "status", "--porcelain", cwd=ROOT)
    if changed:
        raise Failure(f"Commit first, as the last commit is what is built:\n{changed}")
    return run("git", "log", "-1", "--format=%h", cwd=ROOT).strip()


def export(to: Path) -> Path:
    """Write the files of the last commit to a folder."""
    archive = to.with_suffix(".tar")
    run("git", "archive", "--output", archive, "HEAD", cwd=ROOT)
    unpack(archive, to)
    return to


def unpack(archive: Path, to: Path) -> None:
    with tarfile.open(archive) as tar:
        tar.extractall(to, filter="data")


def check_builds(work: Path) -> str:
    """Build in two different folders, and keep the files of the first in ``dist/`` if they are the same."""
    epoch = run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip()
    digests = []
    for name in ("first", "second"):
        source = export(work / name)
        run(sys.executable, "-m", "build", "--outdir", work / f"dist-{name}", ".", cwd=source,
            SOURCE_DATE_EPOCH=epoch)  # fmt: skip
        files = sorted((work / f"dist-{name}").iterdir())
        digests.append({file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files})
    if digests[0] != digests[1]:
        raise Failure(f"Two builds of the same commit differ: {digests[0]} and {digests[1]}.")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    shutil.copytree(work / "dist-first", ROOT / "dist")
    return "".join(f"\n      {digest[:16]}  {name}" for name, digest in digests[0].items())


def built(suffix: str) -> Path:
    (file,) = (ROOT / "dist").glob(f"*{suffix}")
    return file


def check_contents() -> str:
    tracked = run("git", "ls-files", "--", *SDIST_FOLDERS, cwd=ROOT).splitlines()
    with tarfile.open(built(".tar.gz")) as tar:
        in_sdist = {name.partition("/")[2] for name in tar.getnames()}
    with zipfile.ZipFile(built(".whl")) as wheel:
        in_wheel = set(wheel.namelist())
        (metadata,) = (wheel.read(name).decode() for name in in_wheel if name.endswith("/METADATA"))
    missing = sorted(set(tracked) - in_sdist)
    missing += sorted({n.removeprefix("src/") for n in tracked if n.startswith("src/")} - in_wheel)
    if missing:
        raise Failure(f"Files are missing: {', '.join(missing)}.")
    beside = sorted(n for n in in_wheel if not re.match(r"l1lsmi(-[\w.]+\.dist-info)?/", n))
    if beside:
        raise Failure(f"The wheel has files beside the package: {', '.join(beside)}.")
    paths = re.findall(r"\]\((?!https?:|#)[^)]+\)", metadata)
    if paths:
        raise Failure(
            f"The readme of the package page has links that only a checkout has: {', '.join(paths)}."
        )
    return f"{len(in_wheel)} files in the wheel, {len(in_sdist)} in the sdist"


def check_metadata() -> str:
    run(sys.executable, "-m", "twine", "check", "--strict", built(".whl"), built(".tar.gz"), cwd=ROOT)
    return "no warnings"


# -- using what was built ---------------------------------------------------------------------


def make_environment(folder: Path, python: str, *requirements: str) -> Path:
    """Make a virtual environment with these packages, and return its Python."""
    folder.mkdir()
    run(python, "-m", "venv", "venv", cwd=folder)
    inside = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements, cwd=folder)
    return inside


def check_wheel(work: Path, python: str) -> str:
    """Import the wheel and select columns of a small file, in an empty folder."""
    name = re.sub(r"\W+", "-", python).strip("-")
    inside = make_environment(work / f"wheel-{name}", python, f"{built('.whl')}[cli]")
    empty = work / f"empty-{name}"
    empty.mkdir()
    run(inside, "-c", SMOKE_TEST, cwd=empty)
    command = inside.with_name("l1lsmi")
    printed = run(command, "select", "small.csv", "--target", "kind", "-k", "2", "--report", "report.html",
                  cwd=empty)  # fmt: skip
    page = (empty / "report.html").read_text(encoding="utf-8")
    if not re.search(r"\bx0\b.*\bx1\b|\bx1\b.*\bx0\b", printed, re.DOTALL) or "</html>" not in page:
        raise Failure(f"The command line on a small file printed this:\n{printed}")
    version = run(inside, "-c", "import platform; print(platform.python_version())", cwd=empty).strip()
    return f"Python {version}, report of {len(page):,} characters"


def check_types(work: Path, python: str) -> str:
    """Check types of a user's script against the installed wheel, and run it."""
    inside = make_environment(work / "types", python, f"{built('.whl')}[report]")
    script = shutil.copy(ROOT / "tests" / "typed" / "user_script.py", work / "types")
    printed = run(sys.executable, "-m", "mypy", "--strict", "--python-executable", inside, "--cache-dir",
                  work / "types" / "cache", script, cwd=work / "types")  # fmt: skip
    run(inside, script, cwd=work / "types")
    return printed.strip()


def check_sdist(work: Path, python: str) -> str:
    """Run a quick part of the tests from the unpacked sdist, with the package that was built from it."""
    inside = make_environment(work / "sdist", python, f"{built('.tar.gz')}[test]")
    unpack(built(".tar.gz"), work / "unpacked")
    (folder,) = (work / "unpacked").iterdir()
    printed = run(inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK_TESTS, cwd=folder)
    return printed.strip().splitlines()[-1]


def check_extras(work: Path, python: str) -> str:
    """Install each extra of a user alone, and import the package."""
    for extra in [*user_extras(), "all"]:
        inside = make_environment(work / f"extra-{extra}", python, f"{built('.whl')}[{extra}]")
        run(inside, "-c", "import l1lsmi; l1lsmi.L1LSMI", cwd=work)
        run(inside, "-m", "pip", "check", cwd=work)
        shutil.rmtree(work / f"extra-{extra}")
        print(f"      [{extra}] installs and imports", flush=True)
    return "each one alone"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--final", action="store_true", help="the changelog must have the date of the release"
    )
    parser.add_argument("--extras", action="store_true", help="also install each extra alone (minutes)")
    parser.add_argument(
        "--python",
        action="append",
        metavar="COMMAND",
        help="a Python to install the wheel with; may be repeated, the first one also runs the tests",
    )
    options = parser.parse_args(arguments)
    pythons = options.python or [sys.executable]
    with tempfile.TemporaryDirectory(prefix="release-check-") as folder:
        work = Path(folder)
        steps: list[tuple[str, Callable[[], str]]] = [
            ("versions agree", lambda: check_versions(options.final)),
            ("everything is committed", check_committed),
            ("two builds are identical", lambda: check_builds(work)),
            ("contents of wheel and sdist", check_contents),
            ("metadata (twine)", check_metadata),
            *(
                (f"wheel with {python}", lambda python=python: check_wheel(work, python))
                for python in pythons
            ),
            ("types of a user's script (mypy --strict)", lambda: check_types(work, pythons[0])),
            ("tests from the unpacked sdist", lambda: check_sdist(work, pythons[0])),
        ]
        if options.extras:
            steps.append(("extras", lambda: check_extras(work, pythons[0])))
        for number, (name, check) in enumerate(steps, 1):
            print(f"[{number}/{len(steps)}] {name} ...", flush=True)
            start = time.monotonic()
            try:
                found = check()
            except Failure as failure:
                print(f"      FAILED: {failure}")
                return 1
            print(f"      ok, {time.monotonic() - start:.0f} s: {found}", flush=True)
    print("Release check passed. The files to publish are in dist/.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
