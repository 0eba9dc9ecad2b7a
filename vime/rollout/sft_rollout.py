"""Supervised training: conversations of the data set as samples, masked by turn. No engine is asked."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

from vime.config.problems import Problem
from vime.config.rules.check import Check
from vime.rollout.base_types import RolloutFnTrainOutput
from vime.rollout.hooks import with_rules
from vime.utils.mask_utils import MultiTurnLossMaskGenerator, get_response_lengths
from vime.utils.per_loop import PerLoopMeta
from vime.utils.processing_utils import load_tokenizer
from vime.utils.types import Sample

__all__ = ["NotTrainable", "generate_rollout"]


class NotTrainable(ValueError):
    """Something that supervised training cannot be done on; says what, and what to change."""


class _Masks(metaclass=PerLoopMeta):
    """The mask generator of a run."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        tokenizer = load_tokenizer(args.hf_checkpoint, trust_remote_code=True)
        self.generator = MultiTurnLossMaskGenerator(tokenizer, tokenizer_type=args.loss_mask_type)


def conversations_once(c: Check) -> Iterator[Problem]:
    """Each conversation is trained on as it is, and nothing is answered."""
    if c.n_samples_per_prompt != 1:
        yield c.problem("n_samples_per_prompt", "supervised training takes a conversation once", "set it to 1")
    if c.apply_chat_template:
        fix = "leave it out, or take it back with --no-apply-chat-template"
        yield c.problem("apply_chat_template", "supervised training applies the template itself", fix)
    evaluates = c.eval_interval is not None and not c.debug_train_only
    if evaluates and c.eval_function_path == f"{__name__}.generate_rollout":
        what = "supervised training has no evaluation of its own"
        yield c.problem("eval_interval", what, "set --eval-function-path, or leave it out")


@with_rules(conversations_once)
def generate_rollout(
    args: Namespace, rollout_id: int, data_buffer: Any, evaluation: bool = False
) -> RolloutFnTrainOutput:
    """The next `args.rollout_batch_size` conversations; a prompt is a list of messages.

    Raises NotTrainable for an evaluation, and for a conversation that is none or has nothing to train on.
    """
    if evaluation:
        raise NotTrainable(
            "supervised training has no evaluation of its own: set --eval-function-path, or no evaluation"
        )
    masks = _Masks(args).generator
    groups = data_buffer.get_samples(args.rollout_batch_size)
    for group in groups:
        if len(group) != 1:
            raise NotTrainable("supervised training takes a conversation once: set --n-samples-per-prompt 1")
        _mask(group[0], masks)
    if hasattr(data_buffer, "settle"):
        data_buffer.settle(len(groups), {})
    return RolloutFnTrainOutput(samples=groups)


def _mask(sample: Sample, masks: MultiTurnLossMaskGenerator) -> None:
    if not isinstance(sample.prompt, list):
        raise NotTrainable(
            f"sample {sample.index}: the prompt is text, not messages; leave out --apply-chat-template, or take it back with --no-apply-chat-template"
        )
    sample.tokens, mask = masks.get_loss_mask(sample.prompt, tools=sample.metadata.get("tools"))
    (sample.response_length,) = get_response_lengths([mask])
    if sample.response_length == 0:
        raise NotTrainable(f"sample {sample.index}: no message of an assistant to train on; take it out of the data")
    sample.loss_mask = mask[-sample.response_length :]
    sample.reward = 0
    sample.status = Sample.Status.COMPLETED
