"""The probe after a sync, from all ranks of the trainer: rank 0 asks the engines, every rank computes."""

import random
from argparse import Namespace
from collections.abc import Callable, Sequence

import torch.distributed as dist

from vime.backends.megatron_utils.update_weight.probe import Agreement, Bounds, LogProbs, check_probe, probe

_PROMPT_TOKENS = 8
_SEED = 1

Ask = Callable[..., Agreement]


def probe_prompts(args: Namespace) -> list[list[int]]:
    """--weight-sync-probe prompts of token ids that are drawn, the same in every run."""
    draw = random.Random(_SEED)
    return [[draw.randrange(args.vocab_size) for _ in range(_PROMPT_TOKENS)] for _ in range(args.weight_sync_probe)]


def probe_engines(
    urls: Sequence[str], args: Namespace, log_probs: LogProbs, bounds: Bounds, ask: Ask = probe
) -> Agreement | None:
    """How far the engines are from the trainer: on rank 0, None elsewhere. Every rank must call.

    Raises ProbeFailed and EngineCallFailed on rank 0; the others return, and learn of it from the run.
    """
    if dist.get_rank() != 0:
        _compute_along(log_probs)
        return None
    told = _Told()
    try:
        found = ask(urls, probe_prompts(args), told.before(log_probs), temperature=args.rollout_temperature)
    finally:
        told.finish()
    check_probe(found, bounds)
    return found


class _Told:
    """Whether the other ranks know what to compute; they wait until they do."""

    def __init__(self) -> None:
        self._done = False

    def before(self, log_probs: LogProbs) -> LogProbs:
        def with_all(sequences: Sequence[Sequence[int]], lengths: Sequence[int]) -> Sequence[Sequence[float]]:
            self._tell((list(map(list, sequences)), list(lengths)))
            return log_probs(sequences, lengths)

        return with_all

    def finish(self) -> None:
        if not self._done:
            self._tell(None)

    def _tell(self, work: object) -> None:
        self._done = True
        dist.broadcast_object_list([work], src=0)


def _compute_along(log_probs: LogProbs) -> None:
    work: list = [None]
    dist.broadcast_object_list(work, src=0)
    if work[0] is not None:
        log_probs(*work[0])
