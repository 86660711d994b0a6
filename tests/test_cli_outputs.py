"""Outputs of commands: none is the input, and a result is printed also where a file cannot be written."""

import json
import sys

import pytest

from l1lsmi._cli.app import run
from l1lsmi.files import FileProblem, read_table, write_table
from tests.test_cli import call


@pytest.fixture
def table(tmp_path):
    rows = [f"{row % 7},{row * row % 11},{'uv'[row % 7 > 3]}" for row in range(40)]
    path = tmp_path / "b.csv"
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n")
    return path


def select(*more):
    return ["select", *more, "-t", "y", "-k", 1, "-m", "pearson", "-q"]


@pytest.fixture
def piped(monkeypatch):
    """A function that redirects a file to standard input."""
    opened = []

    def redirect(path):
        opened.append(path.open())
        monkeypatch.setattr(sys, "stdin", opened[-1])
        return "-"

    yield redirect
    for stream in opened:
        stream.close()


# -- one file, two roles ----------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--output", "--save", "--report"])
def test_the_redirected_input_is_not_overwritten(capfd, piped, table, option):
    suffix = {"--output": ".csv", "--save": ".json", "--report": ".html"}[option]
    path = table.rename(table.with_suffix(suffix))
    before = path.read_bytes()
    (path.parent / f"link{suffix}").symlink_to(path)
    for name in (path.name, f"link{suffix}"):
        args = select(piped(path), option, path.with_name(name))
        result = call(capfd, *args, "--format", "csv")
        assert result.code == 2 and "is the same file as standard input." in result.err
    assert path.read_bytes() == before


def test_a_table_from_standard_input_is_not_written_over_it(piped, table):
    found = read_table(piped(table))
    with pytest.raises(FileProblem, match=r"is the file that the table was read from"):
        write_table(found, ["a"], table)
    write_table(found, ["a"], table.with_name("other.csv"))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("way", ["path", "standard input"])
@pytest.mark.parametrize("command", ["select", "measure"])
def test_nothing_is_appended_to_the_input(monkeypatch, piped, table, stream, way, command):
    before = table.read_bytes()
    file = piped(table) if way == "standard input" else table
    with table.open("a") as redirected:
        monkeypatch.setattr(sys, stream, redirected)
        assert run([command, str(file), "-t", "y", "--json"]) == 2
        monkeypatch.undo()
    assert table.read_bytes() == before


def test_the_redirected_output_is_not_replaced(capfd, monkeypatch, table):
    path = table.with_name("out.csv")
    with path.open("w") as redirected:
        monkeypatch.setattr(sys, "stdout", redirected)
        result = call(capfd, *select(table, "--output", path))
    assert result.code == 2 and "is the same file as standard output." in result.err


# -- files that cannot be written -------------------------------------------------------------


@pytest.mark.parametrize(("option", "name"), [("--output", "out.csv"), ("--save", "out.json")])
@pytest.mark.parametrize("form", ["text", "json"])
def test_the_result_is_printed_where_a_file_cannot_be_written(capfd, monkeypatch, table, option, name, form):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    path = table.with_name(name)
    result = call(capfd, *select(table, option, path), *(["--json"] if form == "json" else []))
    assert result.code == 1 and result.err.startswith("Error: ") and "No space left" in result.err
    if form == "json":
        assert json.loads(result.out)["columns"] == ["a"]
    else:
        assert "selected 1 of 2 features" in result.out
    assert [one.name for one in table.parent.iterdir()] == ["b.csv"]


def test_the_result_is_printed_where_a_write_is_interrupted(capfd, monkeypatch, table):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupt)
    path = table.with_name("out.csv")
    result = call(capfd, *select(table, "--output", path))
    assert result.code == 130 and result.err == f"Interrupted: {path} was not written.\n"
    assert "selected 1 of 2 features" in result.out
    assert [one.name for one in table.parent.iterdir()] == ["b.csv"]
