"""The schedule of step size and weight decay: Megatron-core's, counted in samples as upstream counts it."""

from argparse import Namespace
from typing import Any

from megatron.core.optimizer_param_scheduler import OptimizerParamScheduler

from vime.errors import RunError


def build_scheduler(args: Namespace, optimizer: Any) -> OptimizerParamScheduler:
    """The schedule over the updates that `args` foresee; `step(increment=samples of the update)` moves it.

    `optimizer` has `param_groups`. Counting samples makes it hold for updates of any number of samples. Raises RunError
    when the run's length is unknown, or its warm-up is no shorter than its decay: with --num-epoch it is known here first.
    """
    batch = args.global_batch_size
    updates = _updates(args)
    decay = (args.lr_decay_iters or updates) * batch
    warmup = int((args.lr_warmup_fraction or 0.0) * decay) or args.lr_warmup_iters * batch
    if args.lr_decay_style == "constant":
        decay = max(decay, warmup + 1)
    if warmup >= decay:
        what = f"the warm-up takes {warmup} samples and the whole schedule {decay}"
        raise RunError(what, "lower --lr-warmup-iters, or raise --lr-decay-iters")
    wsd = getattr(args, "lr_wsd_decay_iters", None)
    return OptimizerParamScheduler(
        optimizer,
        init_lr=args.lr_warmup_init,
        max_lr=args.lr,
        min_lr=args.min_lr,
        lr_warmup_steps=warmup,
        lr_decay_steps=decay,
        lr_decay_style=args.lr_decay_style,
        start_wd=_or(args, "start_weight_decay", args.weight_decay),
        end_wd=_or(args, "end_weight_decay", args.weight_decay),
        wd_incr_steps=updates * batch,
        wd_incr_style=_or(args, "weight_decay_incr_style", "constant"),
        wsd_decay_steps=None if wsd is None else wsd * batch,
        lr_wsd_decay_style=_or(args, "lr_wsd_decay_style", "exponential"),
    )


def _updates(args: Namespace) -> int:
    """Updates of the whole run."""
    if args.num_rollout is None:
        if args.lr_decay_iters is None:
            raise RunError("the run's length is unknown", "set --num-rollout or --lr-decay-iters")
        return args.lr_decay_iters
    return max(1, args.num_rollout * args.rollout_batch_size * args.n_samples_per_prompt // args.global_batch_size)


def _or(args: Namespace, name: str, default: Any) -> Any:
    value = getattr(args, name, None)
    return default if value is None else value
