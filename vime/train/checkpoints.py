"""Checkpoints of a whole run on disk: each is there whole or not at all, and a marker names the last.

    SAVE/latest_checkpointed_iteration.txt      40
    SAVE/iter_0000040/run.json                  which rollout was the last, and of which weights
    SAVE/iter_0000040/trainer/                  model, optimizer, schedule, random state
    SAVE/iter_0000040/rollout/                  prompts: cursor, buffer, partial samples, account
"""

import json
import re
import shutil
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from vime.errors import RunError
from vime.utils.atomic_folder import whole_folder, write_whole

MARKER = "latest_checkpointed_iteration.txt"
_FOLDER = re.compile(r"iter_(\d{7,})$")


@dataclass(frozen=True)
class Progress:
    """How far a run has come."""

    rollout_id: int
    """The last rollout that was trained on."""
    weight_version: int
    """Of the weights that were last brought to the engines."""


@dataclass(frozen=True)
class Checkpoint:
    """One that is whole."""

    folder: Path
    progress: Progress

    @property
    def trainer(self) -> Path:
        return self.folder / "trainer"

    @property
    def rollout(self) -> Path:
        return self.folder / "rollout"


def starting_point(args: Namespace) -> Checkpoint | None:
    """The checkpoint to go on from; None where the run begins with a model's weights.

    Raises RunError for a step that is not there, and where a new run would write over another's checkpoints.
    """
    found = _named(args) if args.load and holds_checkpoints(Path(args.load)) else None
    if found is None and args.save and holds_checkpoints(Path(args.save)):
        raise RunError(
            f"--save {args.save}: it holds checkpoints of another run",
            f"go on from them with --load {args.save}, or choose another folder",
        )
    return found


def holds_checkpoints(folder: Path) -> bool:
    """Whether runs have saved here."""
    return (folder / MARKER).is_file()


def _named(args: Namespace) -> Checkpoint:
    folder = Path(args.load)
    if args.ckpt_step is not None:
        return read(folder / _name(args.ckpt_step))
    text = (folder / MARKER).read_text("utf-8").strip()
    if not text.isdigit():
        raise RunError(f"{folder / MARKER}: {text[:40]!r} is no number", f"name a step: --ckpt-step, of {_steps(folder)}")
    return read(folder / _name(int(text)))


def read(folder: Path) -> Checkpoint:
    """The checkpoint in `folder`, or the one that was being replaced by it when the run was killed."""
    if not folder.exists():
        folder = next(folder.parent.glob(f".{folder.name}.old-*"), folder)
    try:
        progress = Progress(**json.loads((folder / "run.json").read_text("utf-8")))
    except FileNotFoundError:
        raise RunError(f"{folder}: there is no such checkpoint", f"there are steps {_steps(folder.parent)}") from None
    except (ValueError, TypeError) as error:
        raise RunError(f"{folder / 'run.json'}: {error}", "choose another step with --ckpt-step") from None
    return Checkpoint(folder, progress)


@contextmanager
def writing(save: Path, progress: Progress) -> Iterator[Checkpoint]:
    """A checkpoint to fill inside the block; it counts once the block ends well, and nothing is left of it otherwise.

    Raises RunError where the disk is full or the folder cannot be written.
    """
    try:
        _clear_unfinished(save)
        with whole_folder(save / _name(progress.rollout_id)) as folder:
            yield Checkpoint(folder, progress)
            (folder / "run.json").write_text(json.dumps(asdict(progress)) + "\n", "utf-8")
        write_whole(save / MARKER, f"{progress.rollout_id}\n")
    except OSError as error:
        why = error.strerror or str(error)
        raise RunError(
            f"{save}: the checkpoint of rollout {progress.rollout_id} could not be written ({why})",
            "make room or choose another --save; the checkpoint before it is whole",
        ) from None


def _clear_unfinished(save: Path) -> None:
    """What a killed run left: folders that were being written, and one that was being replaced and is there again."""
    for path in save.glob(".iter_*"):
        whole = save / path.name[1:].partition(".")[0]
        if ".new-" in path.name or whole.exists():
            shutil.rmtree(path, ignore_errors=True)


def _name(rollout_id: int) -> str:
    return f"iter_{rollout_id:07d}"


def _steps(folder: Path) -> str:
    found = sorted(int(match[1]) for path in folder.glob("iter_*") if (match := _FOLDER.match(path.name)))
    return ", ".join(map(str, found)) or "none"
