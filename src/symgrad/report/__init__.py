"""The report: one HTML file about a fitted model."""

from symgrad.report.page import write_report

__all__ = ["write_report"]
