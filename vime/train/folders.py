"""The folders of a run, looked at before anything is started."""

from argparse import Namespace
from pathlib import Path

from vime.errors import RunError

_MARKER = "latest_checkpointed_iteration.txt"


def refuse_to_overwrite(args: Namespace) -> None:
    """Raises RunError where --save holds checkpoints that this run does not go on from."""
    if args.save is None or not (Path(args.save) / _MARKER).is_file():
        return
    if args.load is not None and Path(args.load).resolve().is_relative_to(Path(args.save).resolve()):
        return
    raise RunError(
        f"--save {args.save}: it holds checkpoints of another run",
        f"go on from them with --load {args.save}, or choose another folder",
    )
