"""The seam between two engines, seen from outside: what of it a tree holds, and what of it an engine has."""
