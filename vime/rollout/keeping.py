"""What becomes of a group that was generated, and what a data source is told of it; the same for every rollout function."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

from vime.rollout.accounting import Ledger
from vime.rollout.filter_hub.base_types import MetricGatherer, call_dynamic_filter, should_drop_dynamic_filter_output
from vime.rollout.groups import Group, in_order, leaves
from vime.rollout.hooks import load_hook
from vime.rollout.rewarding import GENERATION_FAILED, generation_failed, reward_failed
from vime.utils.types import Sample

__all__ = ["Keeping", "Prompts", "check_size", "is_cut_short", "number_of"]


def is_cut_short(group: Group) -> bool:
    """Whether any of it was aborted."""
    return any(leaf.status is Sample.Status.ABORTED for leaf in leaves(group))


def check_size(args: Namespace, group: Group) -> None:
    """Raises ValueError for a group that a generate function made longer or shorter."""
    if len(group) != args.n_samples_per_prompt:
        raise ValueError(
            f"a group came back with {len(group)} samples, not --n-samples-per-prompt {args.n_samples_per_prompt}; "
            "a generate function that makes several returns them as a list"
        )


def number_of(group: Group, position: int) -> int:
    """By what a prompt is known; a data source of the user's may give none, and its place stands for it."""
    number = leaves(group)[0].group_index
    return -1 - position if number is None else number


class Keeping:
    """The functions of the user's that see groups: which are kept, which samples are trained on, what came of all."""

    def __init__(self, args: Namespace) -> None:
        self.args = args
        self.gatherer = MetricGatherer()
        self._filter = _hook(args, "dynamic_sampling_filter_path")
        self._mark = _hook(args, "rollout_sample_filter_path")
        self._process = _hook(args, "rollout_all_samples_process_path")

    def reason_to_drop(self, group: Group, remaining: int) -> str | None:
        """Why the group is not trained on; None where it is. `remaining` groups are left with it."""
        if any(map(generation_failed, leaves(group))):
            return GENERATION_FAILED
        if all(map(reward_failed, leaves(group))):
            return "reward_failed"
        output = call_dynamic_filter(self._filter, self.args, [s for s in group if not reward_failed(s)])
        target = self.args.rollout_batch_size
        if should_drop_dynamic_filter_output(output, remaining_batch_size=remaining, target_data_size=target):
            self.gatherer.on_dynamic_filter_drop(output.reason)
            return output.reason or "dynamic_filter"
        return None

    def show(self, kept: Iterable[tuple[int, Group]], seen: Iterable[tuple[int, Group]], source: Any) -> None:
        """Call the functions that see a whole rollout: the groups that are kept, and all that came back."""
        if self._mark is not None:
            self._mark(self.args, in_order(kept))
        if self._process is not None:
            self._process(self.args, in_order(seen), source)


class Prompts:
    """A data source as rollout functions use it. One of the user's may lack everything but `get_samples`."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.takes_back: bool = getattr(source, "takes_groups_back", hasattr(source, "add_samples"))
        self._lock = getattr(source, "lock", None) or nullcontext()

    def take(self, take: Callable[[int], list[Group]], count: int) -> list[Group]:
        """Groups that `take`, a method of the source as a rule, gives. They are under way until they come back or are
        settled: what the source saves by then has them."""
        with self._lock:
            groups = take(count)
            self.hold(groups)
        return groups

    def hold(self, groups: list[Group]) -> None:
        """So far these groups under way have come."""
        self._tell("hold", groups)

    def settle(self, ledger: Ledger) -> None:
        """What became of the groups of a rollout."""
        with self._lock:
            self._tell("settle", len(ledger.trained), ledger.reasons())
            self._tell("release", [*ledger.trained, *ledger.dropped])

    def check_balance(self, under_way: int = 0) -> None:
        """Raises PromptsUnaccountedFor where the source misses more groups than are under way."""
        self._tell("check_balance", under_way)

    def _tell(self, method: str, *about: Any) -> None:
        if (told := getattr(self.source, method, None)) is not None:
            told(*about)


def _hook(args: Namespace, kind: str) -> Callable[..., Any] | None:
    path = getattr(args, kind)
    return None if path is None else load_hook(kind, path)
