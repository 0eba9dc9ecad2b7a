"""One data-parallel rank's share of a rollout's training data, with what it must know of the rest. Needs no torch.

What an update divides by is counted here, over the whole batch and before anything is packed: the loss of an update is then
a sum over tokens of fixed weights, whatever the packing, the order of micro-batches or the number of ranks.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from vime.utils.dp_schedule import updates_of_batch

PER_TOKEN_COLUMNS = ("loss_masks", "rollout_log_probs", "teacher_log_probs")
"""Columns with one entry a response token."""
REQUIRED_COLUMNS = ("tokens", "response_lengths", "rewards", "loss_masks")
TOP_P_COLUMNS = ("rollout_top_p_token_ids", "rollout_top_p_token_offsets")
"""A sample's words that sampling kept, flat int32, and where each response token's begin, [R + 1] int32."""
WHOLE_BATCH_COLUMNS = ("raw_reward",)
"""Columns that every rank is given whole, because metrics group them by prompt."""


class MalformedTrainData(ValueError):
    """Training data that cannot be trained on; the message names the sample and the column."""


def check_columns(batch: Mapping[str, Sequence[Any]]) -> None:
    """Every column is as long as the batch, and every sample's arrays are aligned and finite.

    Raises MalformedTrainData.
    """
    for name in REQUIRED_COLUMNS:
        if batch.get(name) is None:
            raise MalformedTrainData(f"the training data has no column {name!r}, only {sorted(batch)}")
    count = len(batch["tokens"])
    if not count:
        raise MalformedTrainData("the training data has no sample")
    for name, column in batch.items():
        if isinstance(column, (list, tuple)) and len(column) != count:
            raise MalformedTrainData(f"column {name!r} has {len(column)} entries for {count} samples")
    for position in range(count):
        _check_sample(batch, position)
    _check_rewards(batch)


def require_engine_columns(args: Any, batch: Mapping[str, Any]) -> None:
    """What a policy is trained on is there: the engine's logprobs and, with a nucleus, the words that it kept."""
    if batch.get("rollout_log_probs") is None:
        raise MalformedTrainData("the engine's logprobs (rollout_log_probs) are missing for every sample")
    if args.rollout_top_p < 1 and any(batch.get(name) is None for name in TOP_P_COLUMNS):
        raise MalformedTrainData(f"the words that --rollout-top-p kept are missing ({', '.join(TOP_P_COLUMNS)})")


def share_of_rank(args: Any, batch: Mapping[str, Any], rank: int, parallel: Mapping[str, int]) -> dict[str, Any]:
    """Rank `rank`'s share of `batch` (upstream's RolloutBatch: columns, one entry a sample), in upstream's form.

    `parallel` as `build_dp_schedule` takes it. Beside the columns: `partition` (positions in the batch), `total_lengths`,
    `micro_batch_indices` (indices into the share), `num_microbatches`, `global_batch_sizes` (rollouts) and
    `global_token_sums` (unmasked tokens) of each update, and `rollout_mask_sums`: what each sample's loss is divided by,
    the unmasked tokens of its rollout (`rollout_trained_tokens`) or args.loss_constant_length.
    Raises MalformedTrainData and TooFewSamples.
    """
    check_columns(batch)
    lengths = [len(one) for one in batch["tokens"]]
    rollout_ids = batch.get("rollout_ids") or list(range(len(lengths)))
    updates = updates_of_batch(
        args, parallel, lengths, global_batch_size=args.global_batch_size or len(lengths), rollout_indices=rollout_ids
    )
    trained = [sum(1 for entry in mask if entry) for mask in batch["loss_masks"]]
    of_rollout: dict[Any, int] = {}
    for rollout_id, number in zip(rollout_ids, trained, strict=True):
        of_rollout[rollout_id] = of_rollout.get(rollout_id, 0) + number
    fixed = getattr(args, "loss_constant_length", None)
    tokens = [of_rollout[one] for one in rollout_ids]
    whole = {
        **batch,
        "total_lengths": lengths,
        "rollout_trained_tokens": tokens,
        "rollout_mask_sums": [fixed or own for own in tokens],
    }
    micro_batches = [one for update in updates for one in update.ranks[rank]]
    mine = [i for one in micro_batches for i in one]
    share = {
        name: [column[i] for i in mine] if isinstance(column, (list, tuple)) else column
        for name, column in whole.items()
        if name not in WHOLE_BATCH_COLUMNS
    }
    share |= {name: batch[name] for name in WHOLE_BATCH_COLUMNS if name in batch}
    return share | {
        "partition": mine,
        "micro_batch_indices": _local(micro_batches),
        "num_microbatches": [len(update.ranks[rank]) for update in updates],
        "global_batch_sizes": [update.rollouts for update in updates],
        "global_token_sums": [sum(trained[i] for i in update.samples) for update in updates],
    }


def _local(micro_batches: Sequence[Sequence[int]]) -> list[list[int]]:
    """Indices into the samples laid end to end."""
    ends = list(itertools.accumulate(len(one) for one in micro_batches))
    return [list(range(end - len(one), end)) for one, end in zip(micro_batches, ends, strict=True)]


def _check_sample(batch: Mapping[str, Sequence[Any]], position: int) -> None:
    total, response = len(batch["tokens"][position]), batch["response_lengths"][position]
    if not 0 <= response < total:
        raise _bad(batch, position, f"{response} response tokens of {total}: the prompt has one token at least")
    for name in PER_TOKEN_COLUMNS:
        column = batch.get(name)
        if column is None:
            continue
        if column[position] is None or len(column[position]) != response:
            found = "none" if column[position] is None else len(column[position])
            raise _bad(batch, position, f"{name} has {found} entries for {response} response tokens")
        if name == "loss_masks":
            continue
        for offset, (value, entry) in enumerate(zip(column[position], batch["loss_masks"][position], strict=True)):
            if entry and (value is None or not math.isfinite(value)):
                raise _bad(batch, position, f"{name} is {value} at response token {offset}, which is trained on")


def _check_rewards(batch: Mapping[str, Sequence[Any]]) -> None:
    for position, reward in enumerate(batch["rewards"]):
        if isinstance(reward, bool) or not isinstance(reward, (int, float)) or not math.isfinite(reward):
            raise _bad(batch, position, f"the reward is {reward!r}, which is no finite number")


def _bad(batch: Mapping[str, Sequence[Any]], position: int, what: str) -> MalformedTrainData:
    indices = batch.get("sample_indices")
    name = f"sample {indices[position]} (position {position})" if indices else f"the sample at position {position}"
    return MalformedTrainData(f"{name}: {what}")
