"""Where prompts come from: a data set gone through epoch by epoch, and a buffer of groups that came back."""

from __future__ import annotations

import logging
import threading
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from vime.rollout.accounting import PromptsUnaccountedFor
from vime.rollout.groups import Group, leaves, own_copy, snapshot
from vime.rollout.hooks import load_hook
from vime.rollout.outstanding import Outstanding
from vime.rollout.saved_state import DataSourceError, plain, read_state, samples, state_file, write_state
from vime.utils.data import Dataset
from vime.utils.processing_utils import load_processor, load_tokenizer
from vime.utils.types import Sample

__all__ = ["DataSource", "DataSourceError", "RolloutDataSource", "RolloutDataSourceWithBuffer", "pop_first"]

logger = logging.getLogger(__name__)

_STATE = "global_dataset_state_dict"
_CURSOR = ("sample_offset", "epoch_id", "sample_group_index", "sample_index")


@runtime_checkable
class DataSource(Protocol):
    """What --data-source-path names: a class that is called with `args`."""

    def get_samples(self, num_samples: int) -> list[Group]:
        """So many groups, a group a prompt. Numbers of groups and samples never repeat in a run."""
        ...

    def add_samples(self, samples: list[Group]) -> None:
        """Take groups back that were not trained on."""
        ...

    def save(self, rollout_id: int) -> None:
        """Write down where the source stands after this rollout."""
        ...

    def load(self, rollout_id: int | None = None) -> None:
        """Stand where `save` of that rollout stood."""
        ...

    def __len__(self) -> int:
        """Prompts of an epoch."""
        ...


class RolloutDataSource:
    """The prompts of --prompt-data, epoch after epoch; it takes nothing back."""

    takes_groups_back = False

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self.epoch_id = 0
        self.sample_group_index = 0
        self.sample_index = 0
        self.sample_offset = 0
        self.metadata: dict[str, Any] = {}
        self.settled: dict[str, int] = {"trained": 0}
        self.outstanding = Outstanding()
        # A rollout may be under way, in another thread, while this is saved.
        self.lock = threading.RLock()
        self.dataset = _dataset(args) if args.rollout_global_dataset and args.prompt_data is not None else None
        self._order_epoch()

    def get_samples(self, num_samples: int) -> list[list[Sample]]:
        """The next `num_samples` prompts, each copied `args.n_samples_per_prompt` times; epochs follow each other."""
        with self.lock:
            return [self._group(prompt) for prompt in self._next_prompts(num_samples)]

    def add_samples(self, samples: list[Group]) -> None:
        raise DataSourceError(f"{type(self).__name__} takes no groups back: use RolloutDataSourceWithBuffer")

    def save(self, rollout_id: int) -> None:
        """Write cursor and buffer to `args.save`/rollout, as one file that is whole or not there.

        What is under way counts as in the buffer: who goes on from there begins it again.
        """
        if self.args.rollout_global_dataset:
            with self.lock:
                state = self._state()
            write_state(state_file(self.args.save, _STATE, rollout_id), state)

    def load(self, rollout_id: int | None = None) -> None:
        """Take up what `save(rollout_id)` wrote; nothing to do for the first rollout (None or -1), or without --load.

        Where the prompts are others by now, or in another order, the epoch that it stood in is left, and the next begins:
        a warning says so. Raises DataSourceError where the file is missing, no such file, or of groups of another size.
        """
        if not self.args.rollout_global_dataset or self.args.load is None or rollout_id is None or rollout_id < 0:
            return
        path = state_file(self.args.load, _STATE, rollout_id)
        if not path.exists():
            raise DataSourceError(
                f"there is no {path}, so it is not known which prompts were used: load a checkpoint that has it, "
                f"or begin anew with --start-rollout-id 0"
            )
        before = read_state(path, "state of a data source", self._restored)
        self._begin_other_order(before, path)
        self._order_epoch()

    def settle(self, trained: int, dropped: Mapping[str, int]) -> None:
        """Count what became of prompts that were given out, over the whole run and its resumes."""
        with self.lock:
            for name, count in [("trained", trained), *dropped.items()]:
                self.settled[name] = self.settled.get(name, 0) + count

    def hold(self, groups: Iterable[Group]) -> None:
        """These are under way, and saved as they are now, until they come back or are released."""
        with self.lock:
            self.outstanding.hold(groups)

    def release(self, numbers: Iterable[int]) -> None:
        """These groups are settled, and saved no more."""
        with self.lock:
            self.outstanding.release(numbers)

    def check_balance(self, under_way: int = 0) -> None:
        """Raises PromptsUnaccountedFor unless every prompt ever given out was settled, is in the buffer or `under_way`."""
        missing = self.sample_group_index - sum(self.settled.values()) - self.get_buffer_length() - under_way
        if missing:
            raise PromptsUnaccountedFor(
                f"of {self.sample_group_index} given out in this run are {'missing' if missing > 0 else 'counted twice'}: "
                f"{self.settled}, {self.get_buffer_length()} in the buffer, {under_way} under way",
                count=abs(missing),
            )

    def get_buffer_length(self) -> int:
        return 0

    def __len__(self) -> int:
        return 0 if self.dataset is None else len(self.dataset)

    def _state(self) -> dict[str, Any]:
        settled = dict(self.settled)
        if not self.takes_groups_back and (lost := len(self.outstanding.groups())):
            settled["not_taken_back"] = settled.get("not_taken_back", 0) + lost
        cursor = {name: getattr(self, name) for name in _CURSOR}
        return cursor | {"order": self._order(), "metadata": self.metadata, "settled": settled}

    def _restored(self, state: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Stand where the state stood; by what its prompts followed each other."""
        self._restore(state)
        return state.get("order")

    def _restore(self, state: Mapping[str, Any]) -> None:
        cursor = {name: int(state[name]) for name in _CURSOR}
        self.metadata, self.settled = state["metadata"], state["settled"]
        self.outstanding.clear()
        vars(self).update(cursor)

    def _order(self) -> dict[str, Any] | None:
        """By what the prompts follow each other: what a place among them depends on."""
        if self.dataset is None:
            return None
        shuffled = {"--rollout-seed": self.args.rollout_seed} if self.args.rollout_shuffle else {}
        return {
            "the number of prompts": len(self.dataset),
            "the digest of their texts": self.dataset.digest,
            "--rollout-shuffle": self.args.rollout_shuffle,
            **shuffled,
        }

    def _begin_other_order(self, before: Mapping[str, Any] | None, path: Path) -> None:
        now = self._order()
        if before is None or now is None or before == now:
            return
        changed = [name for name in before | now if before.get(name) != now.get(name)]
        told = ", ".join(f"{name} was {before.get(name)} and is {now.get(name)}" for name in changed)
        logger.warning("%s: %s; the epoch in which it stood is left, and the next begins", path, told)
        self.epoch_id, self.sample_offset = self.epoch_id + 1, 0

    def _next_prompts(self, count: int) -> list[Sample]:
        if self.dataset is None:
            return [Sample() for _ in range(count)]
        prompts: list[Sample] = []
        while len(prompts) < count:
            if self.sample_offset >= len(self.dataset):
                self.epoch_id, self.sample_offset = self.epoch_id + 1, 0
                self._order_epoch()
            taken = self.dataset.samples[self.sample_offset : self.sample_offset + count - len(prompts)]
            prompts += taken
            self.sample_offset += len(taken)
        return prompts

    def _group(self, prompt: Sample) -> list[Sample]:
        group = [own_copy(prompt) for _ in range(self.args.n_samples_per_prompt)]
        for sample in group:
            sample.group_index, sample.index = self.sample_group_index, self.sample_index
            self.sample_index += 1
        self.sample_group_index += 1
        return group

    def _order_epoch(self) -> None:
        if self.dataset is not None and self.args.rollout_shuffle:
            self.dataset.shuffle(self.epoch_id)


class RolloutDataSourceWithBuffer(RolloutDataSource):
    """The same with a buffer in front: groups that came back go out first. The buffer is saved, partial samples too."""

    takes_groups_back = True

    def __init__(self, args: Namespace) -> None:
        super().__init__(args)
        self.buffer: list[Group] = []
        self.buffer_filter = (
            pop_first if args.buffer_filter_path is None else load_hook("buffer_filter_path", args.buffer_filter_path)
        )

    def get_samples(self, num_samples: int) -> list[Group]:
        """Groups of the buffer, as --buffer-filter-path chooses, and then the next prompts."""
        with self.lock:
            before = len(self.buffer)
            groups = self.buffer_filter(self.args, None, self.buffer, num_samples) if before and num_samples else []
            if (discarded := before - len(self.buffer) - len(groups)) > 0:
                self.settle(0, {"buffer_filter": discarded})
            return [*groups, *super().get_samples(num_samples - len(groups))]

    def add_samples(self, samples: list[Group]) -> None:
        """Put groups into the buffer, last. Raises DataSourceError, with nothing added, for what is no group."""
        size = self.args.n_samples_per_prompt
        for group in samples:
            if not isinstance(group, list) or len(group) != size or not leaves(group):
                shape = f"{len(group)} samples" if isinstance(group, list) else type(group).__name__
                raise DataSourceError(f"a group of --n-samples-per-prompt {size} samples goes back, not {shape}")
        with self.lock:
            self.buffer += samples
            self.outstanding.take_back(samples)

    def get_buffer_length(self) -> int:
        return len(self.buffer)

    def update_metadata(self, metadata: Mapping[str, Any]) -> None:
        self.metadata.update(metadata)

    def get_metadata(self) -> dict[str, Any]:
        return self.metadata

    def _state(self) -> dict[str, Any]:
        # It is written when the lock is free again, and a group of the buffer may have been begun by then.
        waiting = [*self.outstanding.groups(), *map(snapshot, self.buffer)]
        return super()._state() | {"buffer": plain(waiting)}

    def _restore(self, state: Mapping[str, Any]) -> None:
        buffer = samples(state.get("buffer", []))
        size = self.args.n_samples_per_prompt
        if other := next((len(group) for group in buffer if len(group) != size), None):
            raise DataSourceError(
                f"its buffer has groups of {other} samples, and --n-samples-per-prompt is {size}: set {other}, or begin "
                "with the first prompt, with --start-rollout-id 0"
            )
        super()._restore(state)
        self.buffer = buffer


def pop_first(args: Namespace, rollout_id: int | None, buffer: list[Group], num_samples: int) -> list[Group]:
    """Takes the oldest groups out of the buffer, at most `num_samples`."""
    taken = buffer[:num_samples]
    del buffer[:num_samples]
    return taken


def _dataset(args: Namespace) -> Dataset:
    tokenizer = load_tokenizer(args.hf_checkpoint, trust_remote_code=True)
    processor = load_processor(args.hf_checkpoint, trust_remote_code=True)
    if args.dump_details is not None:
        tokenizer.save_pretrained(Path(args.dump_details) / "tokenizer")
        if processor:
            processor.save_pretrained(Path(args.dump_details) / "processor")
    keys = {name: getattr(args, name) for name in ("label_key", "metadata_key", "tool_key", "multimodal_keys")}
    template = {name: getattr(args, name) for name in ("apply_chat_template", "apply_chat_template_kwargs")}
    dataset = Dataset(
        args.prompt_data,
        tokenizer,
        processor,
        args.rollout_max_prompt_len,
        prompt_key=args.input_key,
        seed=args.rollout_seed,
        **keys,
        **template,
    )
    if not len(dataset):
        raise DataSourceError(
            f"{args.prompt_data} has no prompt of at most {args.rollout_max_prompt_len} tokens: "
            "give another file with --prompt-data, or raise --rollout-max-prompt-len"
        )
    return dataset
