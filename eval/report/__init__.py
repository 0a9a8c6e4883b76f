"""``pronominal report``: one self-contained page about runs, and its tables and plots as files."""

from pronominal.eval.report.page import write_report

__all__ = ["write_report"]
