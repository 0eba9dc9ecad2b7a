"""A rollout that was generated and not yet trained on, beside the state of the data source: a resumed run trains on it first.

Its prompts are no longer in the data source, so that without this file they would be lost.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vime.rollout.data_source import DataSourceError
from vime.rollout.groups import Group
from vime.utils.atomic_file import write_atomic
from vime.utils.sample_codec import decode, encode
from vime.utils.types import Sample


@dataclass(frozen=True)
class Ahead:
    """What a rollout function returned for `rollout_id`."""

    rollout_id: int
    groups: list[Group]
    metrics: Mapping[str, Any] | None


def save_ahead(args: Namespace, rollout_id: int, ahead: Ahead | None) -> None:
    """Write what was generated ahead of the checkpoint after `rollout_id`, or that nothing was. Raises DataSourceError."""
    path = _file(args.save, rollout_id)
    try:
        if ahead is None or ahead.rollout_id <= rollout_id:
            path.unlink(missing_ok=True)  # of a run that passed here before
            return
        state = {"rollout_id": ahead.rollout_id, "groups": _plain(ahead.groups), "metrics": ahead.metrics}
        write_atomic(path, json.dumps(encode(state)).encode())
    except OSError as error:
        raise DataSourceError(
            f"{path} cannot be written ({error.strerror}): make room there, or name another folder with --save; the "
            "checkpoint before is whole"
        ) from error


def load_ahead(args: Namespace, rollout_id: int) -> Ahead | None:
    """What `save_ahead` wrote with the checkpoint that a run goes on from; None without one. Raises DataSourceError."""
    if args.load is None or rollout_id < 0:
        return None
    path = _file(args.load, rollout_id)
    if not path.exists():
        return None
    try:
        state = decode(json.loads(path.read_bytes()))
        return Ahead(int(state["rollout_id"]), _samples(state["groups"]), state["metrics"])
    except OSError as error:
        raise DataSourceError(f"{path} cannot be read ({error.strerror}): make it readable, or load another") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataSourceError(f"{path} holds no rollout: {error!r}") from error


def _file(folder: str, rollout_id: int) -> Path:
    return Path(folder) / "rollout" / f"generated_ahead_{rollout_id}.json"


def _plain(node: Any) -> Any:
    return [_plain(item) for item in node] if isinstance(node, list) else node.to_dict()


def _samples(node: Any) -> Any:
    return [_samples(item) for item in node] if isinstance(node, list) else Sample.from_dict(node)
