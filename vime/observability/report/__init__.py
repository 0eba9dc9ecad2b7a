"""The report of a run: one HTML page that needs nothing else."""

from vime.observability.report.page import render

__all__ = ["render"]
