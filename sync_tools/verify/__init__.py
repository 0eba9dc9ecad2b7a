"""Checks of a port that need no GPU: each one function from the fork's trees before and after to findings."""
