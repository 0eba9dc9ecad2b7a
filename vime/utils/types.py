"""The values that travel through the loop; `Sample` above all. Imports neither torch nor numpy."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

from vime.utils.replay import TopPSets, routed_experts
from vime.utils.sample_stats import PrefixCacheInfo, SpecInfo

if TYPE_CHECKING:
    import numpy as np
    import torch


class Status(Enum):
    """Where a sample stands. FAILED is recoverable: a tool or a reward went wrong, what is there may still be used."""

    PENDING = "pending"
    COMPLETED = "completed"
    TRUNCATED = "truncated"
    ABORTED = "aborted"
    FAILED = "failed"


_STATUS_OF_FINISH = {
    "stop": Status.COMPLETED,
    "length": Status.TRUNCATED,
    "repetition": Status.TRUNCATED,  # the engine cut it off, since it repeated itself
    "abort": Status.ABORTED,
}


@dataclass
class Sample:
    """One prompt and what became of it.

    `tokens` is prompt and response. `loss_mask` and `rollout_log_probs` are None or exactly as long as the response;
    `append_response_tokens` keeps that so and raises ValueError, with nothing changed, where it would not be.
    """

    # Which sample this is. Samples that one rollout fanned out into share its rollout_id.
    group_index: int | None = None
    index: int | None = None
    rollout_id: int | None = None
    # What is asked.
    prompt: str | list[dict[str, Any]] = ""
    tokens: list[int] = field(default_factory=list)
    # Images and the like: as they came, and as the trainer's processor made them.
    multimodal_inputs: dict[str, Any] | None = None
    multimodal_train_inputs: dict[str, Any] | None = None
    multimodal_train_input_id: str | None = None
    apply_chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
    # What was answered, and what is thought of it.
    response: str = ""
    response_length: int = 0
    label: Any = None
    reward: float | dict[str, Any] | None = None
    # One entry a response token.
    loss_mask: list[int] | None = None
    weight_versions: list[str] = field(default_factory=list)
    rollout_log_probs: list[float] | None = None
    # What the trainer replays: see vime.utils.replay.
    rollout_top_p_token_ids: list[int] | np.ndarray | None = None
    rollout_top_p_token_offsets: list[int] | np.ndarray | None = None
    rollout_routed_experts: list[Any] | np.ndarray | None = None
    # For the trainer.
    remove_sample: bool = False
    teacher_log_probs: list[float] | None = None
    status: Status = Status.PENDING
    # The user's own, and functions that stand in for those of the command line.
    metadata: dict[str, Any] = field(default_factory=dict)
    generate_function_path: str | None = None
    custom_rm_path: str | None = None
    train_metadata: dict[str, Any] | None = None
    # The router sends one session's requests to one engine.
    session_id: str | None = None
    non_generation_time: float = 0.0
    spec_info: SpecInfo = field(default_factory=SpecInfo)
    prefix_cache_info: PrefixCacheInfo = field(default_factory=PrefixCacheInfo)

    Status = Status
    SpecInfo = SpecInfo
    PrefixCacheInfo = PrefixCacheInfo

    def to_dict(self) -> dict[str, Any]:
        """Every attribute, also those that a rollout function added; enums and counters as plain values."""
        plain = {"status": self.status.value}
        plain |= {name: getattr(self, name).to_dict() for name in ("spec_info", "prefix_cache_info")}
        return vars(self) | plain

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Sample:
        """The sample that `to_dict` described."""
        values = dict(data)
        values["status"] = Status(values["status"])
        values["spec_info"] = SpecInfo.from_dict(values.get("spec_info", {}))
        values["prefix_cache_info"] = PrefixCacheInfo.from_dict(values.get("prefix_cache_info", {}))
        known = {entry.name for entry in fields(Sample)}
        sample = Sample(**{name: values.pop(name) for name in known & values.keys()})
        vars(sample).update(values)
        return sample

    def get_reward_value(self, args: Namespace) -> Any:
        return self.reward[args.reward_key] if args.reward_key else self.reward

    @property
    def effective_response_length(self) -> int:
        """Response tokens that are trained on."""
        return self.response_length if self.loss_mask is None else sum(self.loss_mask)

    def append_response_tokens(
        self,
        args: Namespace | None = None,
        *,
        tokens: Iterable[int] | None = None,
        log_probs: Iterable[float] | None = None,
        trainable: bool = True,
        meta_info: Mapping[str, Any] | None = None,
        text: str | None = None,
        update_terminal_info: bool = True,
    ) -> None:
        """Add what an engine generated (`trainable`, with its log-probabilities and `meta_info`), or what a tool said.

        `tokens` is replaced, as a prompt may be shared with other samples or a request; `loss_mask` and `rollout_log_probs`
        are extended in place where they are lists, since rollout code may hold them (upstream's ReTool example does).
        `update_terminal_info` says that `meta_info` ends a request: its counters, version and status are taken over.
        """
        new_tokens = _numbers(tokens, int) or []
        new_log_probs = self._log_probs_for(new_tokens, _numbers(log_probs, float), trainable)
        top_p = self._top_p_after(len(new_tokens), trainable, meta_info or {})
        experts = self._experts_after(args, len(self.tokens) + len(new_tokens), meta_info or {})
        self._check_lengths()

        before = self.response_length
        self.response += text or ""
        if new_tokens:
            self.tokens = [*self.tokens, *new_tokens]
            self.response_length += len(new_tokens)
            self.loss_mask = _extended(self.loss_mask, [1] * before, [int(trainable)] * len(new_tokens))
        if new_log_probs is not None:
            self.rollout_log_probs = _extended(self.rollout_log_probs, [0.0] * before, new_log_probs)
        if top_p is not None:
            self.rollout_top_p_token_ids, self.rollout_top_p_token_offsets = top_p.ids, top_p.offsets
        if experts is not None:
            self.rollout_routed_experts = experts
        if meta_info is not None and update_terminal_info and meta_info.get("finish_reason"):
            self.update_from_meta_info(args, meta_info)

    def update_from_meta_info(self, args: Namespace | None, meta_info: Mapping[str, Any]) -> None:
        """Take over how a request ended: counters, weight version, status. Raises KeyError without finish_reason."""
        finish = meta_info["finish_reason"]["type"]
        # Each request counts by itself, since a sample may take several.
        if getattr(args, "vllm_speculative_config", None):
            self.spec_info.add(meta_info)
        self.prefix_cache_info.add(meta_info)
        if "weight_version" in meta_info:
            # A request that lived through an update of the weights names each version.
            self.weight_versions += meta_info.get("weight_versions") or [meta_info["weight_version"]]
        self.status = _STATUS_OF_FINISH.get(finish, self.status)

    def _log_probs_for(self, tokens: list[int], log_probs: list[float] | None, trainable: bool) -> list[float] | None:
        if log_probs is not None and len(log_probs) != len(tokens):
            raise ValueError(f"{len(log_probs)} log_probs for {len(tokens)} tokens")
        if not tokens:
            # Nothing is added: what came before gets no log-probabilities by it.
            return None if self.response_length else log_probs
        if not trainable:
            if log_probs is not None:
                raise ValueError("tokens that are not trained on take no log_probs")
            return [0.0] * len(tokens)
        if log_probs is None:
            raise ValueError("tokens that are trained on need their rollout log_probs")
        if self.rollout_log_probs is None and self.response_length:
            raise ValueError("the response so far has no rollout_log_probs; those of the next tokens cannot follow")
        return log_probs

    def _top_p_after(self, added: int, trainable: bool, meta_info: Mapping[str, Any]) -> TopPSets | None:
        known = TopPSets.of(self.rollout_top_p_token_ids, self.rollout_top_p_token_offsets)
        sent = TopPSets.from_meta_info(meta_info) if added else None
        if sent is not None and len(sent) != added:
            raise ValueError(f"top-p sets of {len(sent)} tokens for {added} tokens")
        if sent is None and added and not trainable and known is not None:
            sent = known.padded(added)
        elif sent is not None and known is not None:
            sent = known.extended(sent)
        after = sent or known
        if after is not None and len(after) != self.response_length + added:
            raise ValueError(f"top-p sets of {len(after)} tokens for a response of {self.response_length + added}")
        return after

    def _experts_after(self, args: Namespace | None, token_count: int, meta_info: Mapping[str, Any]) -> Any:
        if meta_info.get("routed_experts") is None:
            return None
        if args is None:
            raise ValueError("routed_experts needs args: the number of layers and of experts a token")
        return routed_experts(
            meta_info, token_count, args.num_layers, args.moe_router_topk, existing=self.rollout_routed_experts
        )

    def _check_lengths(self) -> None:
        for name in ("loss_mask", "rollout_log_probs"):
            values = getattr(self, name)
            if values is not None and len(values) != self.response_length:
                raise ValueError(f"{name} has {len(values)} entries for a response of {self.response_length}")


def _extended(values: list | None, default: list, more: list) -> list:
    values = default if values is None else values if isinstance(values, list) else list(values)
    values += more
    return values


def _numbers(values: Any, kind: type) -> list | None:
    """A list of `kind` from any iterable of numbers, arrays and tensors included."""
    if values is None:
        return None
    if hasattr(values, "tolist"):
        values = values.reshape(-1).tolist()
    return [kind(value) for value in values]


@dataclass(frozen=True)
class ParamInfo:
    """A parameter of the trained model and the rank that holds it."""

    name: str
    dtype: torch.dtype
    shape: torch.Size
    attrs: dict[str, Any]
    size: int
    src_rank: int


# What the rollout hands to the trainer: columns, a value a sample.
RolloutBatch = dict[str, list[Any]]


@dataclass(frozen=True)
class MultimodalType:
    """A kind of content in a chat message, and the words that stand for it in a prompt."""

    name: str
    placeholder: str


class MultimodalTypes:
    IMAGE = MultimodalType("image", "<image>")
    VIDEO = MultimodalType("video", "<video>")
    AUDIO = MultimodalType("audio", "<audio>")

    @classmethod
    def all(cls) -> list[MultimodalType]:
        return [cls.IMAGE, cls.VIDEO, cls.AUDIO]

    @classmethod
    def get(cls, name: str) -> MultimodalType | None:
        return {kind.name: kind for kind in cls.all()}.get(name)
