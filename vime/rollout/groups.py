"""Groups of samples: their leaves where some were fanned out, and how a group goes back to be generated again."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from vime.utils.aborted import ABORT_REASON
from vime.utils.nested import leaves
from vime.utils.types import Sample

__all__ = ["Group", "fresh", "in_order", "leaves", "name_leaves", "own_copy", "snapshot", "to_go_on"]

Group = list[Sample | list[Sample]]
"""The samples of one prompt; a list stands for a sample that was fanned out."""

_GROWING = ("metadata", "tokens", "loss_mask", "rollout_log_probs", "weight_versions", "spec_info", "prefix_cache_info")
"""What rollout code changes in place."""
_OF_ONE_ATTEMPT = frozenset({"start_rollout_id", ABORT_REASON})
_DONE = (Sample.Status.COMPLETED, Sample.Status.TRUNCATED, Sample.Status.FAILED)


def snapshot(group: Group) -> Group:
    """Copies that keep what the samples are now, whatever becomes of them; long arrays, which are replaced, are shared."""
    return [snapshot(item) if isinstance(item, list) else _kept(item) for item in group]


def _kept(sample: Sample) -> Sample:
    kept = copy.copy(sample)
    for name in _GROWING:
        setattr(kept, name, copy.copy(getattr(sample, name)))
    return kept


def fresh(sample: Sample) -> Sample:
    """The prompt of `sample` with nothing generated yet."""
    return Sample(
        group_index=sample.group_index,
        index=sample.index,
        prompt=sample.prompt,
        label=sample.label,
        multimodal_inputs=sample.multimodal_inputs,
        apply_chat_template_kwargs=sample.apply_chat_template_kwargs,
        metadata={name: value for name, value in sample.metadata.items() if name not in _OF_ONE_ATTEMPT},
        generate_function_path=sample.generate_function_path,
        custom_rm_path=sample.custom_rm_path,
        train_metadata=sample.train_metadata,
        session_id=sample.session_id,
    )


def own_copy(prompt: Sample) -> Sample:
    """A prompt of the data set as a sample of its own; images and the like are shared. A tenth of deepcopy's time."""
    sample = fresh(prompt)
    sample.metadata = copy.deepcopy(prompt.metadata)
    if not isinstance(prompt.prompt, str):
        sample.prompt = copy.deepcopy(prompt.prompt)
    return sample


def to_go_on(group: Group, issued: Group, rollout_id: int, partial: bool) -> Group:
    """The group as it goes back into the buffer: with what was generated where `partial`, else its prompts alone.

    A fan-out that was cut short cannot go on in the middle: its prompt stands for it.
    """
    if not partial or len(group) != len(issued):
        return [fresh(leaves(prompt)[0]) for prompt in issued]
    return [_item_to_go_on(item, prompt, rollout_id) for item, prompt in zip(group, issued, strict=True)]


def _item_to_go_on(item: Any, prompt: Any, rollout_id: int) -> Any:
    if isinstance(item, list) and (not item or any(leaf.status not in _DONE for leaf in leaves(item))):
        return fresh(leaves(prompt)[0])
    if isinstance(item, Sample) and item.status is Sample.Status.FAILED and item.metadata.get("generation_failed"):
        # What came of it is worth nothing, what it was before is.
        return _kept(prompt)
    for leaf in leaves(item):
        leaf.metadata.pop(ABORT_REASON, None)
        if leaf.response:
            leaf.metadata.setdefault("start_rollout_id", rollout_id)
    return item


def name_leaves(group: Group, issued: Group) -> None:
    """Give leaves of fan-outs what they lack of their prompt: its group, its index, and one rollout_id for all."""
    for item, origin in zip(group, issued, strict=True):
        if not isinstance(item, list):
            continue
        prompt = leaves(origin)[0]
        for leaf in leaves(item):
            leaf.group_index = prompt.group_index if leaf.group_index is None else leaf.group_index
            leaf.index = prompt.index if leaf.index is None else leaf.index
            leaf.rollout_id = prompt.index if leaf.rollout_id is None else leaf.rollout_id


def in_order(groups: Iterable[tuple[int, Group]]) -> list[Group]:
    """Groups by number, lowest first."""
    return [group for _, group in sorted(groups, key=lambda pair: pair[0])]
