"""What is published: versions, extras, citation, recipe and types agree; ``make release-check`` uses it."""

import datetime
import re
import runpy
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import l1lsmi

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: Extras of developers: `all` is without them.
DEVELOPMENT = {"docs", "experiments", "lassonet", "lint", "peers", "release", "rivals", "test"}


def united(*names):
    """Requirements of extras, with those of the extras that they name."""
    found = set()
    for requirement in [requirement for name in names for requirement in EXTRAS[name]]:
        inner = re.fullmatch(r"l1lsmi\[(.+)\]", requirement)
        found |= united(*inner[1].split(",")) if inner else {requirement}
    return found


@pytest.fixture(scope="module")
def release_check():
    return runpy.run_path(str(ROOT / "scripts" / "release_check.py"))


@pytest.fixture(scope="module")
def lower_bounds():
    return runpy.run_path(str(ROOT / "scripts" / "lower_bounds.py"))


def test_versions_agree(release_check):
    assert set(release_check["versions"]().values()) == {l1lsmi.__version__}
    assert release_check["check_versions"](final=False).startswith(l1lsmi.__version__)


def test_versions_that_differ_are_named(release_check, tmp_path, monkeypatch):
    check = release_check["check_versions"]
    for name in release_check["versions"]():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    monkeypatch.setitem(check.__globals__, "ROOT", tmp_path)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text("# Changelog\n\n## 7.8.9 (unreleased)\n")
    with pytest.raises(release_check["Failure"], match=r"The versions differ: .*CHANGELOG.md 7\.8\.9"):
        check(final=False)
    changes.write_text(f"# Changelog\n\n## {l1lsmi.__version__} (unreleased)\n")
    with pytest.raises(release_check["Failure"], match="needs its date"):
        check(final=True)
    changes.write_text(f"# Changelog\n\n## {l1lsmi.__version__} (2026-01-31)\n")
    assert check(final=True)


def test_quick_tests_exist(release_check):
    assert all((ROOT / name).is_file() for name in release_check["QUICK_TESTS"])


def test_all_is_every_extra_of_a_user(release_check):
    users = sorted(set(EXTRAS) - DEVELOPMENT - {"all"})
    assert sorted(release_check["user_extras"]()) == users
    assert united("all") == united(*users)
    assert not any(re.match("torch|cupy", requirement) for requirement in united("all"))


PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "RELEASING.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*")) if page.suffix in (".md", ".rst")),
    *sorted((ROOT / "src").rglob("*.py")),
]


def test_extras_that_are_named_exist():
    named = {
        extra: page.name
        for page in PAGES
        for names in re.findall(r"(?:'\.|\bl1lsmi)\[([a-z0-9, ]+)\]", page.read_text(encoding="utf-8"))
        for extra in re.split(", *", names)
    }
    assert {"cli", "plot"} <= set(named)
    assert set(named) <= set(EXTRAS), named


def test_the_citation_is_that_of_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Source"]
    assert isinstance(citation.get("date-released", datetime.date.today()), datetime.date)
    paper = citation["preferred-citation"]
    assert [author["family-names"] for author in paper["authors"]] == ["Jitkrittum", "Hachiya", "Sugiyama"]
    assert paper["title"] == "Feature Selection via l1-Penalized Squared-Loss Mutual Information"
    assert paper["title"] in re.sub(r"\s+", " ", (ROOT / "README.md").read_text())
    assert (paper["volume"], paper["issue"], paper["start"], paper["end"]) == ("E96-D", "7", 1513, 1524)
    assert paper["year"] == 2013 and paper["journal"].startswith("IEICE Transactions")


def test_the_recipe_has_the_dependencies_of_the_package():
    recipe = yaml.safe_load((ROOT / "conda" / "recipe.yaml").read_text())
    requirements = recipe["requirements"]
    python, *others = (requirement.replace(" ", "") for requirement in requirements["run"])
    assert set(others) == {*PROJECT["dependencies"], *united("cli")}
    assert (
        python.startswith("python>=") and PROJECT["requires-python"] == f">={recipe['context']['python_min']}"
    )
    backend = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert set(backend) <= {requirement.replace(" ", "") for requirement in requirements["host"]}
    (script,) = recipe["build"]["python"]["entry_points"]
    assert script == "l1lsmi = " + PROJECT["scripts"]["l1lsmi"]


def test_files_for_github_can_be_read():
    templates = ROOT / ".github" / "ISSUE_TEMPLATE"
    if not templates.is_dir():
        pytest.skip("templates of issues are not in the sdist")
    for name in ("bug_report.yml", "feature_request.yml"):
        form = yaml.safe_load((templates / name).read_text())
        assert form["name"] and form["description"]
        assert all(field["type"] == "textarea" and field["attributes"]["label"] for field in form["body"])
    config = yaml.safe_load((templates / "config.yml").read_text())
    assert all(set(link) == {"name", "url", "about"} for link in config["contact_links"])


def test_links_of_the_readme_become_addresses():
    pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))["ReadmeWithAddresses"](str(ROOT), {})
    metadata = {"urls": PROJECT["urls"]}
    hook.update(metadata)
    text = metadata["readme"]["text"]
    source = PROJECT["urls"]["Source"]
    assert f"]({source}/raw/HEAD/docs/images/xor.png)" in text
    assert f"[Large data]({source}/blob/HEAD/docs/large_data.md)" in text
    assert not re.findall(r"\]\((?!https?:|#)", text)


def test_the_script_of_a_user_runs(capsys):
    pytest.importorskip("jinja2")
    runpy.run_path(str(ROOT / "tests" / "typed" / "user_script.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "L1LSMI: [0, 1] (150, 2)" in printed and "report: True" in printed


def test_lower_bounds_are_the_only_versions(lower_bounds):
    project = {
        "name": "l1lsmi",
        "requires-python": ">=3.11",
        "dependencies": ["numpy>=2.0"],
        "optional-dependencies": {
            "test": ["l1lsmi[dask]", "pytest>=8,<9.2"],
            "dask": ["dask[array]>=2024.12"],
        },
    }
    assert lower_bounds["oldest"](project) == ["dask==2024.12", "numpy==2.0", "pytest==8"]
    project["dependencies"] = ["numpy"]
    with pytest.raises(lower_bounds["Failure"], match=r"'numpy' in pyproject\.toml has no lower bound"):
        lower_bounds["oldest"](project)
    lower_bounds["check_python"](project, (3, 11))
    with pytest.raises(lower_bounds["Failure"], match=r"need Python 3\.11, and this is 3\.12: make oldest"):
        lower_bounds["check_python"](project, (3, 12))


def test_every_requirement_has_a_lower_bound(lower_bounds):
    found = lower_bounds["oldest"](PROJECT)
    assert len(found) == len({re.split("==", line)[0] for line in found})  # one bound in all extras
    assert len(found) == len(PROJECT["dependencies"]) + len(united("test") - set(PROJECT["dependencies"]))


LOCK = (ROOT / "requirements" / "ci.txt").read_text(encoding="utf-8")


def test_the_lock_has_every_requirement_with_hashes():
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", LOCK, flags=re.MULTILINE).strip())
    pinned = {}
    for entry in entries:
        name, version = re.match(r"([\w.-]+)==(\S+)", entry).groups()
        pinned.setdefault(name, []).append(Version(version))
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry
    for line in {*PROJECT["dependencies"], *united("test", "lint", "docs")}:
        requirement = Requirement(line)
        versions = pinned[canonicalize_name(requirement.name)]
        assert all(version in requirement.specifier for version in versions), f"{line}: make lock"


def test_the_lock_names_no_place():
    lines = [line for line in LOCK.splitlines() if not line.startswith("    --hash=sha256:")]
    assert not any(re.search(r"://|^-|/|@", line) for line in lines)
