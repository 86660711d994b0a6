"""What `l1lsmi apply` prints and writes of cells that a terminal or a spreadsheet would act upon."""

import io
import sys
from types import SimpleNamespace

import pytest

from l1lsmi._cli import apply
from l1lsmi._cli.app import run

CELLS = b'"a\x1b[31m",b\n1,"x\x1b]0;t\x07"\n2,=cmd()\n'


@pytest.mark.parametrize(
    ("is_terminal", "expected"),
    [(True, rb'"a\x1b[31m",b' + b"\n" + rb'1,"x\x1b]0;t\x07"' + b"\n2,=cmd()\n"), (False, CELLS)],
)
def test_control_characters_are_escaped_in_a_terminal(monkeypatch, is_terminal, expected):
    stream = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=stream, isatty=lambda: is_terminal))
    apply._print_table(CELLS)
    assert stream.getvalue() == expected


@pytest.mark.parametrize("command", ["select", "apply"])
def test_help_says_what_a_spreadsheet_may_do(capfd, command):
    run([command, "--help"])
    words = " ".join(capfd.readouterr().out.split())
    assert "Cells that begin with =, +, - or @ are written unchanged, and a spreadsheet program may" in words
