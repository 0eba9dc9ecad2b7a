"""Checks of a port that need no GPU: each one function from the fork's trees before and after to findings."""

from sync_tools.verify.model import Check, Context, Finding, packages_of
from sync_tools.verify.run import gate
from sync_tools.verify.run import run as verify

__all__ = ["Check", "Context", "Finding", "gate", "packages_of", "verify"]
