"""TensorBoard, for who asks for it; its packages are imported then."""

import functools
import os
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vime.observability.tracking_error import TrackingUnavailable

__all__ = ["_TensorboardAdapter"]


class _TensorboardAdapter:
    """Writes scalars into the run's TensorBoard folder. All of one folder share a writer, in a process.

    The folder is $TENSORBOARD_DIR, or tensorboard_log/PROJECT/EXPERIMENT (--tb-project-name, --tb-experiment-name), or
    `tensorboard` in the run's own folder.
    """

    def __init__(self, args: Namespace) -> None:
        self.folder = tensorboard_folder(args)
        self._writer = _writer_of(self.folder)

    def log(self, data: Mapping[str, float], step: int) -> None:
        for name, value in data.items():
            self._writer.add_scalar(name, float(value), step)
        self._writer.flush()

    def finish(self) -> None:
        self._writer.close()
        _writer_of.cache_clear()


def tensorboard_folder(args: Namespace) -> Path:
    """Where the files go; TrackingUnavailable where nothing says."""
    if folder := os.environ.get("TENSORBOARD_DIR"):
        return Path(folder)
    run_dir = getattr(args, "run_dir", None)
    if args.tb_project_name:
        experiment = args.tb_experiment_name or (Path(run_dir).name if run_dir else "run")
        return Path("tensorboard_log") / args.tb_project_name / experiment
    if run_dir:
        return Path(run_dir) / "tensorboard"
    raise TrackingUnavailable("--use-tensorboard: no folder to write to; give --run-dir or --tb-project-name")


@functools.cache
def _writer_of(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        fix = "pip install torch tensorboard, or leave --use-tensorboard out"
        raise TrackingUnavailable(f"--use-tensorboard: {error}; {fix}") from error
    return SummaryWriter(str(folder))
