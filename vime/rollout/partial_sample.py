"""A sample that grows with each chunk of its answer, and can be put back to what it was before."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from vime.backends.vllm_utils.seam import Answer, Delta, IncompleteAnswer
from vime.backends.vllm_utils.seam.detokenize import Detokenizer
from vime.utils.replay import TopPSets
from vime.utils.types import Sample

_LISTS = ("tokens", "loss_mask", "rollout_log_probs", "rollout_top_p_token_ids", "rollout_top_p_token_offsets")
_GROWING = ("response", "response_length", *_LISTS)


class PartialSample:
    """Writes an answer on `sample`, chunk by chunk, so that it is coherent after each: its lists are as long as each other.

    The lists are its own, and extended in place: a chunk costs what it brings, however much there is. (Appending by
    Sample.append_response_tokens copies them.) Raises ValueError for a sample whose lists do not fit.
    """

    def __init__(self, args: Namespace, sample: Sample, tokenizer: Any, skip_special_tokens: bool) -> None:
        # With nothing to append this checks what there is.
        sample.append_response_tokens(args)
        if sample.response_length and sample.rollout_log_probs is None:
            raise ValueError(
                f"sample {sample.index} has a response without rollout_log_probs; it cannot be gone on with"
            )
        self.sample = sample
        self._args, self._tokenizer, self._skip = args, tokenizer, skip_special_tokens
        self._before = {name: getattr(sample, name) for name in _GROWING}
        self._had = response_of(sample)
        self._is_decoded = sample.response == self._decode(self._had)
        # What stands for a character that is incomplete for now is replaced by the character.
        self._text = sample.response.removesuffix(Detokenizer(tokenizer, skip_special_tokens).go_on_from(self._had))

    def rewind(self) -> None:
        """Back to what the sample was, with lists of its own."""
        for name, value in self._before.items():
            setattr(self.sample, name, _own(value) if name in _LISTS else value)

    def add(self, delta: Delta) -> None:
        """Take over a chunk. Raises IncompleteAnswer, with nothing changed, where something is not there for each token."""
        ids = delta.token_ids
        if ids:
            self._check(delta)
            sample = self.sample
            if delta.sampling_mask is not None:
                self._add_mask(delta.sampling_mask)
            sample.loss_mask = [1] * sample.response_length if sample.loss_mask is None else sample.loss_mask
            sample.loss_mask.extend([1] * len(ids))
            sample.rollout_log_probs = sample.rollout_log_probs if sample.rollout_log_probs is not None else []
            sample.rollout_log_probs.extend(map(float, delta.log_probs))
            sample.tokens.extend(ids)
            sample.response_length += len(ids)
        self.sample.response = self._text + (delta.text or "")

    def decode_all(self) -> None:
        """Make the text that of all tokens together, if it was so before: chunks of broken characters may add up to another."""
        if self._is_decoded:
            self.sample.response = self._decode(response_of(self.sample))

    def finish(self, answer: Answer) -> None:
        """Take over how the request ended: counters, weight versions, routed experts, status."""
        sample = self.sample
        sample.append_response_tokens(self._args, log_probs=(), meta_info=answer["meta_info"])
        sets = TopPSets.of(sample.rollout_top_p_token_ids, sample.rollout_top_p_token_offsets)
        if sets is not None:
            sample.rollout_top_p_token_ids, sample.rollout_top_p_token_offsets = sets.ids, sets.offsets

    def _check(self, delta: Delta) -> None:
        count, sample = len(delta.token_ids), self.sample
        if delta.log_probs is None or len(delta.log_probs) != count:
            raise IncompleteAnswer(f"{len(delta.log_probs or ())} logprobs for {count} tokens in a chunk")
        masked = sample.rollout_top_p_token_offsets is not None
        if delta.sampling_mask is None and masked:
            raise IncompleteAnswer(f"no sampling mask for {count} tokens, where those before have one")
        if delta.sampling_mask is not None and (
            len(delta.sampling_mask) != count or (sample.response_length and not masked)
        ):
            raise IncompleteAnswer(
                f"sampling masks of {len(delta.sampling_mask)} tokens for {count}, or for some alone"
            )

    def _add_mask(self, rows: Sequence[Sequence[int]]) -> None:
        sample = self.sample
        if sample.rollout_top_p_token_offsets is None:
            sample.rollout_top_p_token_ids, sample.rollout_top_p_token_offsets = [], [0]
        for row in rows:
            sample.rollout_top_p_token_ids.extend(row)
            sample.rollout_top_p_token_offsets.append(len(sample.rollout_top_p_token_ids))

    def _decode(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=self._skip) if ids else ""


def response_of(sample: Sample) -> list[int]:
    """The token ids of the response."""
    return sample.tokens[len(sample.tokens) - sample.response_length :]


def _own(value: Any) -> list | None:
    if value is None:
        return None
    return value.tolist() if hasattr(value, "tolist") else list(value)
