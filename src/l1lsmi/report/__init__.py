"""Report of a selection as one HTML file: selected features, reasons, errors, and how to reproduce it."""

from l1lsmi.report.content import collect
from l1lsmi.report.notebook import Report, make_report
from l1lsmi.report.page import render, schema, write_report

__all__ = ["make_report", "Report", "collect", "render", "write_report", "schema"]
