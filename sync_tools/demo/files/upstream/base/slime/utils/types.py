from dataclasses import asdict, dataclass, field, fields
from enum import Enum
from typing import Any


@dataclass
class SpecInfo:
    """How well speculative decoding guessed, summed over the requests of one sample."""

    spec_accept_token_num: int = 0
    spec_draft_token_num: int = 0
    spec_verify_ct: int = 0

    def add(self, meta_info: dict) -> None:
        for name in ("spec_accept_token_num", "spec_draft_token_num", "spec_verify_ct"):
            setattr(self, name, getattr(self, name) + meta_info.get(name, 0))

    @property
    def spec_accept_rate(self) -> float:
        return self.spec_accept_token_num / max(self.spec_draft_token_num, 1)


@dataclass
class PrefixCacheInfo:
    """Prompt tokens seen, and how many of them the engine had in its prefix cache."""

    total_prompt_tokens: int = 0
    cached_tokens: int = 0

    def add(self, meta_info: dict) -> None:
        self.total_prompt_tokens += meta_info.get("prompt_tokens", 0)
        self.cached_tokens += meta_info.get("cached_tokens", 0)

    @property
    def prefix_cache_hit_rate(self) -> float:
        return self.cached_tokens / max(self.total_prompt_tokens, 1)


class SampleStatus(Enum):
    PENDING = "pending"
    ABORTED = "aborted"
    TRUNCATED = "truncated"
    COMPLETED = "completed"
    FAILED = "failed"


FINISH_TO_STATUS = {
    "stop": SampleStatus.COMPLETED,
    "length": SampleStatus.TRUNCATED,
    "abort": SampleStatus.ABORTED,
}


@dataclass
class Sample:
    """A prompt on its way through the loop; tokens, loss_mask and rollout_log_probs stay aligned at the response."""

    Status = SampleStatus

    prompt: str | list[dict[str, str]] = ""
    label: str | None = None
    index: int | None = None
    group_index: int | None = None
    session_id: str | None = None
    status: SampleStatus = SampleStatus.PENDING

    tokens: list[int] = field(default_factory=list)
    response: str = ""
    response_length: int = 0
    loss_mask: list[int] | None = None
    rollout_log_probs: list[float] | None = None
    weight_versions: list[str] = field(default_factory=list)

    reward: float | dict[str, Any] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    multimodal_inputs: dict[str, Any] | None = None
    generate_function_path: str | None = None
    spec_info: SpecInfo = field(default_factory=SpecInfo)
    prefix_cache_info: PrefixCacheInfo = field(default_factory=PrefixCacheInfo)

    def append_response_tokens(
        self, args, *, tokens=None, log_probs=None, trainable=True, meta_info=None, text=None
    ) -> None:
        """Add what one turn gave; tokens of a tool are not trainable and count with a log prob of 0."""
        tokens = list(tokens or [])
        log_probs = [0.0] * len(tokens) if log_probs is None else list(log_probs)
        assert len(tokens) == len(log_probs), f"{len(tokens)} tokens but {len(log_probs)} log probs"
        if self.loss_mask is None:
            self.loss_mask = [1] * self.response_length
        self.tokens = self.tokens + tokens
        self.response_length += len(tokens)
        self.loss_mask = self.loss_mask + [int(trainable)] * len(tokens)
        self.rollout_log_probs = (self.rollout_log_probs or []) + log_probs
        self.response += text or ""
        if meta_info is not None:
            self.update_from_meta_info(args, meta_info)

    def update_from_meta_info(self, args, meta_info: dict) -> None:
        """Take over what the engine says about a finished request."""
        self.prefix_cache_info.add(meta_info)
        if args.sglang_speculative_algorithm:
            self.spec_info.add(meta_info)
        if meta_info.get("weight_version") is not None:
            self.weight_versions.append(str(meta_info["weight_version"]))
        self.status = FINISH_TO_STATUS.get(meta_info["finish_reason"]["type"], self.status)

    def get_reward_value(self, args) -> float:
        return self.reward[args.reward_key] if args.reward_key else self.reward

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "status": self.status.value}

    @staticmethod
    def from_dict(data: dict[str, Any]) -> "Sample":
        known = {f.name: data[f.name] for f in fields(Sample) if f.name in data}
        known["status"] = SampleStatus(known.get("status", "pending"))
        known["spec_info"] = SpecInfo(**known.get("spec_info", {}))
        known["prefix_cache_info"] = PrefixCacheInfo(**known.get("prefix_cache_info", {}))
        return Sample(**known)
