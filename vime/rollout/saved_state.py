"""Files of a checkpoint that say where rollouts stand, with samples in groups: JSON that is whole or not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from vime.utils.atomic_file import write_atomic
from vime.utils.checkpoint_names import root_of
from vime.utils.sample_codec import decode, encode
from vime.utils.types import Sample

__all__ = ["DataSourceError", "plain", "read_state", "remove_state", "samples", "state_file", "write_state"]

T = TypeVar("T")
_OTHER = "load another checkpoint with --ckpt-step, or begin anew without --load"


class DataSourceError(RuntimeError):
    """The source of prompts cannot do what was asked; says what to do."""


def state_file(folder: str | None, name: str, rollout_id: int) -> Path:
    """The file of that name of the checkpoint after `rollout_id`, in the folder of all checkpoints, or of one of them
    (iter_0000012). Raises DataSourceError where there is no folder."""
    if folder is None:
        raise DataSourceError("there is no folder to save to: set --save")
    return root_of(folder) / "rollout" / f"{name}_{rollout_id}.json"


def write_state(path: Path, state: Mapping[str, Any]) -> None:
    """Raises DataSourceError where the disk refuses, TypeError for a value that cannot be saved."""
    data = json.dumps(encode(state)).encode()
    with _refusals_told(path):
        write_atomic(path, data)


def remove_state(path: Path) -> None:
    """Raises DataSourceError where the disk refuses."""
    with _refusals_told(path):
        path.unlink(missing_ok=True)


def read_state(path: Path, what: str, make: Callable[[Mapping[str, Any]], T]) -> T:
    """`make(state)` of what was written. Raises DataSourceError where the file cannot be read or holds no such thing."""
    try:
        return make(decode(json.loads(path.read_bytes())))
    except OSError as error:
        raise DataSourceError(f"{path} cannot be read ({error.strerror}): make it readable, or {_OTHER}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataSourceError(f"{path} holds no {what} ({error!r}): {_OTHER}") from error
    except DataSourceError as error:
        raise DataSourceError(f"{path}: {error}") from error


def plain(node: Any) -> Any:
    """Samples in lists, however deep, as mappings."""
    return [plain(item) for item in node] if isinstance(node, list) else node.to_dict()


def samples(node: Any) -> Any:
    """What `plain` made `node` of."""
    return [samples(item) for item in node] if isinstance(node, list) else Sample.from_dict(node)


@contextmanager
def _refusals_told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataSourceError(
            f"{path} cannot be written ({error.strerror}): make room there, or name another folder with --save; the "
            "checkpoint before is whole"
        ) from error
