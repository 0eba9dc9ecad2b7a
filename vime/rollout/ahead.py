"""A rollout that was generated and not yet trained on, beside the state of the data source: a resumed run trains on it first.

Its prompts are no longer in the data source, so that without this file they would be lost.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vime.rollout.groups import Group
from vime.rollout.saved_state import plain, read_state, remove_state, samples, state_file, write_state


@dataclass(frozen=True)
class Ahead:
    """What a rollout function returned for `rollout_id`."""

    rollout_id: int
    groups: list[Group]
    metrics: Mapping[str, Any] | None


def save_ahead(args: Namespace, rollout_id: int, ahead: Ahead | None) -> None:
    """Write what was generated ahead of the checkpoint after `rollout_id`, or that nothing was. Raises DataSourceError."""
    path = _file(args.save, rollout_id)
    if ahead is None or ahead.rollout_id <= rollout_id:
        remove_state(path)  # of a run that passed here before
    else:
        write_state(path, {**vars(ahead), "groups": plain(ahead.groups)})


def load_ahead(args: Namespace, rollout_id: int) -> Ahead | None:
    """What `save_ahead` wrote with the checkpoint that a run goes on from; None without one. Raises DataSourceError."""
    if args.load is None or rollout_id < 0:
        return None
    path = _file(args.load, rollout_id)
    return read_state(path, "rollout", _ahead) if path.exists() else None


def _ahead(state: Mapping[str, Any]) -> Ahead:
    return Ahead(int(state["rollout_id"]), samples(state["groups"]), state["metrics"])


def _file(folder: str, rollout_id: int) -> Path:
    return state_file(folder, "generated_ahead", rollout_id)
