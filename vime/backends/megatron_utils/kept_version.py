"""The weight version that a checkpoint was written under: a run that goes on counts from there, so that a sample's version never
stands for two sets of weights. It is not the rollouts' count: evaluations, and each start of a run, bring a version of their own."""

from argparse import Namespace
from pathlib import Path

from vime.backends.megatron_utils.checkpoint.errors import CheckpointError
from vime.backends.megatron_utils.checkpoint.layout import find

_FILE = "weight_version"


def keep_version(folder: Path, version: int) -> None:
    """Write it into a checkpoint's folder."""
    (folder / _FILE).write_text(f"{version}\n", encoding="utf-8")


def kept_version(args: Namespace) -> int:
    """That of the checkpoint at args.load; 0 where it has none. Raises CheckpointError for what is no number."""
    path = find(args.load, args.ckpt_step)[0] / _FILE
    try:
        return int(path.read_text("utf-8"))
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as error:
        raise CheckpointError(str(path), f"it cannot be read ({error})", "take another checkpoint") from error
