"""Prompts from files: JSON lines or Parquet, a part of one by `path@[a:b]`, as samples in the order of an epoch."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import Any

from vime.errors import first_line
from vime.utils.chat_messages import as_messages
from vime.utils.prompt_files import DataError, check_file, parse_generalized_path, read_file
from vime.utils.types import Sample

__all__ = [
    "DataError",
    "Dataset",
    "check_file",
    "check_rows",
    "filter_long_prompt",
    "get_source",
    "process_rollout_data",
    "read_file",
]

logger = logging.getLogger(__name__)

_parse_generalized_path = parse_generalized_path


def check_rows(path: str, keys: Mapping[str, str]) -> None:
    """Read a file and keep nothing. Raises DataError where a row lacks one of the fields `keys`, each with the option that
    names it, or is none."""
    for number, row in enumerate(read_file(path), 1):
        for key, option in keys.items():
            _field(row, key, f"{path}, row {number}", option)


class Dataset:
    """The prompts of a file as samples; `samples` is in the order of the epoch."""

    def __init__(
        self,
        path: str,
        tokenizer: Any,
        processor: Any,
        max_length: int | None,
        *,
        prompt_key: str = "text",
        multimodal_keys: Mapping[str, str] | None = None,
        label_key: str | None = None,
        tool_key: str | None = None,
        metadata_key: str = "metadata",
        seed: int = 42,
        apply_chat_template: bool = False,
        apply_chat_template_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        """Read them all; with `apply_chat_template` each prompt is rendered here, once.

        Prompts of more than `max_length` tokens are left out. Raises DataError where a row lacks a field.
        """
        samples = []
        for number, row in enumerate(read_file(path), 1):
            where = f"{path}, row {number}"
            with _naming(where):
                prompt = _prompt(row, prompt_key, where)
                if apply_chat_template or multimodal_keys is not None:
                    prompt = as_messages(prompt, row, multimodal_keys)
                tools = _tools(row, tool_key, where)
                metadata = _metadata(row, metadata_key, where) | ({} if tools is None else {"tools": tools})
                images = _vision(prompt, processor, where) if processor else None
                if apply_chat_template:
                    prompt = tokenizer.apply_chat_template(
                        prompt,
                        tools=tools,
                        tokenize=False,
                        add_generation_prompt=True,
                        **(apply_chat_template_kwargs or {}),
                    )
                label = None if label_key is None else _field(row, label_key, where, "--label-key")
                samples.append(Sample(prompt=prompt, label=label, metadata=metadata, multimodal_inputs=images))
        self.origin_samples = filter_long_prompt(samples, tokenizer, processor, max_length)
        self.samples = self.origin_samples
        self.seed = seed
        self.epoch_id = -1

    def shuffle(self, new_epoch_id: int) -> None:
        """Order the samples for an epoch; the order depends on the seed and the epoch alone."""
        if self.epoch_id != new_epoch_id:
            order = list(range(len(self.origin_samples)))
            random.Random(self.seed + new_epoch_id).shuffle(order)
            self.samples = [self.origin_samples[i] for i in order]
            self.epoch_id = new_epoch_id

    @cached_property
    def digest(self) -> str:
        """Tells these prompts, in the order of the file, from others."""
        told = blake2b(digest_size=8)
        for sample in self.origin_samples:
            text = sample.prompt if isinstance(sample.prompt, str) else json.dumps(sample.prompt, default=_kind)
            told.update(text.encode("utf-8", "surrogatepass") + b"\0")
        return told.hexdigest()

    def __getitem__(self, idx: int) -> Sample:
        return self.samples[idx]

    def __len__(self) -> int:
        return len(self.samples)


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """What goes wrong with a row is told with its place: its types, its chat template, its images."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        what = f"no prompt can be made of it ({type(error).__name__}: {first_line(error)})"
        raise DataError(where, what, "mend or delete it") from error


def _kind(value: object) -> str:
    """What stands for an image in a digest."""
    return type(value).__name__


def _field(row: Mapping[str, Any], key: str, where: str, option: str) -> Any:
    if row.get(key) is None:
        raise DataError(where, f"no field {key!r}", f"it has {', '.join(row) or 'none'}: name one with {option}")
    return row[key]


def _prompt(row: Mapping[str, Any], key: str, where: str) -> str | list[Any]:
    prompt = _field(row, key, where, "--input-key")
    if not isinstance(prompt, str | list):
        what = f"the prompt in {key!r} is of type {type(prompt).__name__}"
        raise DataError(where, what, "write a text, or a list of messages")
    return prompt


def _metadata(row: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    found = row.get(key) or {}
    if not isinstance(found, Mapping):
        what = f"the metadata in {key!r} is of type {type(found).__name__}"
        raise DataError(where, what, "write an object, or name another field with --metadata-key")
    return dict(found)


def _tools(row: Mapping[str, Any], key: str | None, where: str) -> list[Any] | None:
    if key is None or row.get(key) is None:
        return None
    tools = row[key]
    try:
        tools = json.loads(tools) if isinstance(tools, str) else list(tools)
    except (TypeError, ValueError, RecursionError):
        tools = None
    if not isinstance(tools, list):
        raise DataError(where, f"the tools in {key!r} are no list", "write a list of tools, or JSON of one")
    return tools


def _vision(prompt: Any, processor: Any, where: str) -> dict[str, Any]:
    from vime.utils.processing_utils import process_vision_info

    if not isinstance(prompt, list):
        raise DataError(where, "the prompt is text where messages are needed", "set --apply-chat-template")
    return process_vision_info(prompt, processor)


def filter_long_prompt(
    origin_samples: list[Sample], tokenizer: Any, processor: Any, max_length: int | None
) -> list[Sample]:
    """Those whose prompt has at most `max_length` tokens, in their order. Prompts that are messages are all kept."""
    if max_length is None or not origin_samples:
        return origin_samples
    unmeasured = {i for i, sample in enumerate(origin_samples) if not isinstance(sample.prompt, str)}
    if unmeasured:
        logger.warning("prompts that are messages have no length yet: --apply-chat-template lets them be filtered")
    with_images = {i for i, sample in enumerate(origin_samples) if processor and _has_images(sample)} - unmeasured
    skipped = with_images | unmeasured
    texts = [sample.prompt for i, sample in enumerate(origin_samples) if i not in skipped]
    lengths = iter([len(ids) for ids in tokenizer(texts, add_special_tokens=False)["input_ids"]] if texts else [])
    kept = [
        sample
        for i, sample in enumerate(origin_samples)
        if i in unmeasured
        or (_length_with_images(sample, processor) if i in with_images else next(lengths)) <= max_length
    ]
    logger.info("%d of %d prompts are longer than %d tokens", len(origin_samples) - len(kept), len(texts), max_length)
    return kept


def _has_images(sample: Sample) -> bool:
    return any(value is not None for value in (sample.multimodal_inputs or {}).values())


def _length_with_images(sample: Sample, processor: Any) -> int:
    from vime.utils.processing_utils import build_processor_kwargs

    return len(processor(text=sample.prompt, **build_processor_kwargs(sample.multimodal_inputs))["input_ids"][0])


def get_source(sample: Sample) -> str:
    """Where a sample comes from, for metrics by source."""
    return getattr(sample, "source", None) or (sample.metadata or {}).get("source_name") or "unknown"


def process_rollout_data(args: Any, rollout_data_ref: list[Any], dp_rank: int, dp_size: int) -> dict[str, Any]:
    """This rank's share of a rollout, fetched from Ray's object store.

    `total_lengths` and `local_raw_reward` are cut to the share; `raw_reward` stays the whole batch's, as metrics by
    prompt need it.
    """
    if len(rollout_data_ref) != dp_size:
        raise ValueError(f"{len(rollout_data_ref)} shares of rollout data for {dp_size} data-parallel ranks")
    import ray

    data = ray.get(rollout_data_ref[dp_rank].inner)
    share = data["partition"]
    data["total_lengths"] = [data["total_lengths"][i] for i in share]
    if "raw_reward" in data:
        data["local_raw_reward"] = [data["raw_reward"][i] for i in share]
    return data
