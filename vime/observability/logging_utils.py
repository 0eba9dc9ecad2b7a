"""Upstream's functions for logging: thin, over the run's log, TensorBoard and Weights & Biases."""

import logging
from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from vime.observability import wandb_utils
from vime.observability.run_log import RunLog
from vime.observability.tensorboard_utils import _TensorboardAdapter

__all__ = ["configure_logger", "finish_tracking", "init_tracking", "log"]


def configure_logger(prefix: str = "") -> None:
    """Log lines of a process: time, `prefix`, place, message. Once: what is configured already stays."""
    logging.basicConfig(
        level=logging.INFO,
        format=f"[%(asctime)s{prefix}] %(filename)s:%(lineno)d - %(message)s",
        datefmt="%Y-%m-%d %H:%M:%S",
    )


def init_tracking(args: Namespace, primary: bool = True, **kwargs: Any) -> None:
    """Begin tracking; raises TrackingUnavailable at once where a tracker that is asked for cannot be used."""
    if not primary:
        return
    wandb_utils.init_wandb_primary(args, **kwargs)
    if args.use_tensorboard:
        _TensorboardAdapter(args)


def log(args: Namespace, metrics: Mapping[str, float], step_key: str) -> None:
    """Log numbers at the step `metrics[step_key]`, to the run's log and to the trackers that are asked for."""
    step = int(metrics[step_key])
    if getattr(args, "run_dir", None):
        RunLog(args.run_dir).log(metrics, step_key, step)
    if args.use_tensorboard:
        _TensorboardAdapter(args).log({name: value for name, value in metrics.items() if name != step_key}, step)
    if args.use_wandb:
        wandb_utils.wandb_module().log(dict(metrics))


def finish_tracking(args: Namespace) -> None:
    """Close the trackers."""
    if args.use_tensorboard:
        _TensorboardAdapter(args).finish()
    if args.use_wandb and wandb_utils.wandb_module().run is not None:
        wandb_utils.wandb_module().finish()
