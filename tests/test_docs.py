"""The site: complete, and everything on it runs. ``make docs`` builds it, with warnings as errors."""

import contextlib
import importlib
import io
import re
import runpy
import tomllib
from pathlib import Path
from unittest.mock import patch

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*")) if path.suffix in (".md", ".rst")]
#: Written by the build, and not part of a checkout.
WRITTEN = ("auto_examples", "auto_tutorials", "api/generated", "api/backreferences", "_templates")
PAGES = [page for page in PAGES if not str(page.relative_to(DOCS)).startswith(WRITTEN)]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
TUTORIALS = sorted((ROOT / "tutorials").glob("plot_*.py"))
MODULES = [
    "l1lsmi",
    *(
        f"l1lsmi.{room}"
        for room in (
            "measures",
            "strategies",
            "baselines",
            "datasets",
            "evaluation",
            "inference",
            "files",
            "preparation",
            "explain",
            "plots",
            "report",
            "methods",
            "sources",
        )
    ),
]
PRINTING = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
GUIDES = [
    page
    for page in PAGES
    if re.search(r"```\n\n```text\n", page.read_text()) and "```python" in page.read_text()
]


def listed_names(page):
    """Names in the autosummary tables of a page."""
    text = page.read_text()
    tables = re.findall(r"\.\. autosummary::\n(?: +:.*\n)*\n((?: +\S+\n)+)", text)
    return [name for table in tables for name in table.split()]


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_in_the_reference(module):
    page = DOCS / "api" / f"{module.removeprefix('l1lsmi.')}.rst"
    public = importlib.import_module(module).__all__
    assert sorted(listed_names(page)) == sorted(name for name in public if not name.startswith("_"))
    assert f".. currentmodule:: {module}\n" in page.read_text()


def test_the_index_of_the_reference_has_every_name():
    pages = (DOCS / "api" / f"{module.removeprefix('l1lsmi.')}.rst" for module in MODULES)
    listed = [name for page in pages for name in listed_names(page)]
    assert sorted(listed_names(DOCS / "api" / "index.rst")) == sorted(listed)


def toctree(page):
    """Pages that a page has in its tables of contents."""
    text = page.read_text()
    blocks = re.findall(r"```\{toctree\}\n(.*?)```|\.\. toctree::\n((?: +.*\n|\n)*)", text, re.DOTALL)
    lines = [line.strip() for block in blocks for line in "".join(block).splitlines()]
    return [(page.parent / line).resolve() for line in lines if line and not line.startswith(":")]


def test_every_page_can_be_reached():
    entries = {entry for page in PAGES for entry in toctree(page)}
    pages = {page.with_suffix("").resolve() for page in PAGES}
    assert pages - {DOCS / "index"} <= entries
    assert entries - pages == {DOCS / "auto_examples" / "index", DOCS / "auto_tutorials" / "index"}


def test_the_gallery_has_an_order_and_examples_are_short():
    order = runpy.run_path(str(DOCS / "_extensions" / "gallery_order.py"))
    assert sorted(order["ORDER"]) == [path.name for path in EXAMPLES]
    assert sorted(order["TUTORIALS"]) == [path.name for path in TUTORIALS]
    assert all(len(path.read_text().splitlines()) < 80 for path in EXAMPLES)
    assert all(len(path.read_text().splitlines()) < 140 for path in TUTORIALS)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_pages_print_what_they_say(page):
    """Python of a page, from top to bottom; a block of text right after it is what it prints."""
    names = {"__name__": page.stem}
    for code, expected in PRINTING.findall(page.read_text()):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        if expected:
            assert printed.getvalue() == expected


def test_commands_print_what_the_page_says():
    console = runpy.run_path(str(DOCS / "write_console.py"))
    run_page, without_seconds = console["run_page"], console["without_seconds"]
    for page in console["PAGES"]:
        assert without_seconds(run_page(page.read_text())) == without_seconds(page.read_text())


def test_the_readme_shows_what_the_first_command_prints():
    without_seconds = runpy.run_path(str(DOCS / "write_console.py"))["without_seconds"]
    shown = re.search(r"```text\n(diabetes: .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    with contextlib.redirect_stdout(io.StringIO()) as printed, patch("sys.argv", ["select_features.py"]):
        runpy.run_path(str(ROOT / "examples" / "select_features.py"), run_name="__main__")
    assert without_seconds(printed.getvalue()) == without_seconds(shown)


def test_the_command_line_brings_what_it_reads():
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    brought = {re.match(r"[\w-]+", requirement)[0] for requirement in extras["cli"]}
    assert {"click", "jinja2", "pyarrow", "openpyxl"} <= brought
    for page in (DOCS / "command_line.md", DOCS.parent / "README.md"):
        assert "pip install '.[cli,h5ad]'" in page.read_text()


def test_every_section_of_the_report_is_explained():
    templates = Path(importlib.import_module("l1lsmi.report").__file__).parent / "templates"
    sections = {
        title for path in templates.glob("*.j2") for title in re.findall("<h2>(.*?)</h2>", path.read_text())
    }
    page = DOCS / "reading_the_report.md"
    assert sections and sections == set(re.findall("^## (.*)$", page.read_text(), re.MULTILINE)) - {
        "The first lines"
    }


def test_numbers_of_the_comparison_are_those_of_the_results():
    text = (DOCS / "comparison.md").read_text()
    results = ROOT / "benchmarks" / "results"
    signal = re.sub(r"\( +", "(", (results / "signal.txt").read_text())
    rows = re.findall(r"^\| ([\d,]+) \| (\d.* s\).*) \|$", text, re.MULTILINE)
    assert len(rows) == 4
    for n, cells in rows:
        line = re.search(rf"^ +{n.replace(',', '')} .*\)", signal, re.MULTILINE)[0]
        assert re.findall(r"[\d.]+ \([\d.]+ s\)", line) == cells.split(" | ")
    toys = (results / "toys.txt").read_text()
    names = {
        "l1-LSMI (`L1LSMI`)": "l1-LSMI",
        "mRMR": "mRMR",
        "ReliefF": "Relief",
        "lasso, exactly k": "Lasso",
    }
    for name, method in names.items():
        cells = re.search(rf"^\| {re.escape(name)} \| (\d.*) \|$", text, re.MULTILINE)[1].split(" | ")
        line = re.search(rf"^{method} .*$", toys, re.MULTILINE)[0]
        assert re.findall(r"(\d\.\d\d) \(", line) == cells[:3]
    paper = (DOCS / "paper.md").read_text()
    for name in ("LightGBM", "random forest", "HSIC Lasso", "mRMR"):
        row = re.search(
            rf"^\| {name}(?: importance)? \| (\d\.\d\d) \| (\d+ \| \d+ \| \d+) \|$", text, re.MULTILINE
        )
        ranks = re.search(rf"^\| {name} (?:\| \d+\.\d\d ){{2}}\| (\d+\.\d\d) \| ", paper, re.MULTILINE)
        wins = re.search(
            rf"^\| {name} \| (?:embedded|filter) \|.* (\d+ \| \d+ \| \d+) \|$", paper, re.MULTILINE
        )
        assert row.groups() == (ranks[1], wins[1])


def test_links_to_examples_open_their_pages():
    to_gallery = runpy.run_path(str(DOCS / "_extensions" / "code_links.py"))["to_gallery"]
    assert to_gallery("[xor](../examples/plot_xor.py)") == "[xor](auto_examples/plot_xor.rst)"
    assert to_gallery("[all](../examples/README.txt)") == "[all](auto_examples/index.rst)"
    assert to_gallery("[a](../tutorials/plot_credit_risk.py)") == "[a](auto_tutorials/plot_credit_risk.rst)"
    assert to_gallery("[all](../tutorials/README.txt)") == "[all](auto_tutorials/index.rst)"
    assert to_gallery("[it](../examples/select_features.py)") == "[it](../examples/select_features.py)"
