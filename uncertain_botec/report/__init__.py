"""A report for whoever signs: one page with the answer, the figures behind it, and everything it rests on."""

from uncertain_botec.report.writing import Report, check_folder, write_report

__all__ = ["Report", "check_folder", "write_report"]
