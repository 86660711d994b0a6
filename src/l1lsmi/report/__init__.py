"""One HTML file that says what was chosen, why, and how to do it again."""

from l1lsmi.report.content import collect
from l1lsmi.report.judged import held_out_errors
from l1lsmi.report.page import render, schema
from l1lsmi.report.writing import write_report

__all__ = ["collect", "held_out_errors", "render", "write_report", "schema"]
