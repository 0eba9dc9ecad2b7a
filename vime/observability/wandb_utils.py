"""Weights & Biases, for who asks for it; its package is imported then."""

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

from vime.config.secrets import names_secret
from vime.observability.tracking_error import TrackingUnavailable

_STEP_KEYS = {"train/*": "rollout/step", "rollout/*": "rollout/step", "perf/*": "rollout/step", "eval/*": "eval/step"}
"""Which count a family of metrics is drawn over."""


def init_wandb_primary(args: Namespace, **kwargs: Any) -> None:
    """Begin the run's page, or go on with `--wandb-run-id`. Raises TrackingUnavailable without the package."""
    if not args.use_wandb:
        return
    wandb = wandb_module()
    if args.wandb_key:
        wandb.login(key=args.wandb_key, host=args.wandb_host)
    run = wandb.init(
        entity=args.wandb_team,
        project=args.wandb_project,
        group=args.wandb_group,
        id=args.wandb_run_id,
        resume="allow" if args.wandb_run_id else None,
        mode=args.wandb_mode,
        dir=args.wandb_dir,
        config=public(vars(args)),
        **kwargs,
    )
    for family, step in _STEP_KEYS.items():
        run.define_metric(family, step_metric=step)


def init_wandb_secondary(args: Namespace, role: str | None = None) -> None:
    """Nothing: one process tracks, and the others' metrics reach it as values."""


def public(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options without what a name says is secret."""
    return {name: value for name, value in values.items() if not names_secret(name) and name != "wandb_key"}


def wandb_module() -> Any:
    """The package; TrackingUnavailable where it is not installed."""
    try:
        import wandb
    except ImportError as error:
        raise TrackingUnavailable(
            "--use-wandb: wandb is not installed; pip install wandb, or leave --use-wandb out"
        ) from error
    return wandb
