"""How many rollouts a run has, where --num-epoch counts them: known when the prompts are."""

from vime.config.args import Args
from vime.errors import RunError


def with_length(args: Args, per_epoch: int | None) -> Args:
    """`args` with num_rollout, and with num_rollout_per_epoch where epochs count and not --num-rollout.
    Raises RunError where an epoch is no whole rollout."""
    if args.num_rollout is not None:
        return args
    if not per_epoch:
        what = f"--num-epoch: an epoch has less than --rollout-batch-size {args.rollout_batch_size} prompts"
        raise RunError(what, "set --num-rollout, or a smaller batch")
    return args.replace(num_rollout=per_epoch * args.num_epoch, num_rollout_per_epoch=per_epoch)
