"""Samples in lists of lists: a group may hold a list for a sample that was fanned out."""

from typing import Any

from vime.utils.types import Sample


def leaves(node: Any) -> list[Sample]:
    """Every sample in `node`, a sample or lists of them however deep, in order."""
    if not isinstance(node, list | tuple):
        return [node]
    return [leaf for item in node for leaf in leaves(item)]
