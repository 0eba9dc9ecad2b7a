"""Counters that a sample gathers over all the requests it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass
class SpecInfo:
    """Speculative decoding: what the draft model proposed and the engine accepted."""

    # Tokens that the engine took over, of those proposed.
    spec_accept_token_num: int = 0
    spec_draft_token_num: int = 0
    # Steps of the engine, and tokens that came out of them.
    spec_verify_ct: int = 0
    completion_token_num: int = 0

    @property
    def spec_accept_rate(self) -> float:
        """0.0 where nothing was proposed."""
        return _ratio(self.spec_accept_token_num, self.spec_draft_token_num)

    @property
    def spec_accept_length(self) -> float:
        return _ratio(self.completion_token_num, self.spec_verify_ct)

    def add(self, meta_info: Mapping[str, Any]) -> None:
        """Count one request in."""
        self.spec_accept_token_num += meta_info.get("spec_accept_token_num") or 0
        self.spec_draft_token_num += meta_info.get("spec_draft_token_num") or 0
        self.spec_verify_ct += meta_info.get("spec_verify_ct") or 0
        self.completion_token_num += meta_info.get("completion_tokens") or 0

    def to_dict(self) -> dict[str, int]:
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> SpecInfo:
        return SpecInfo(**_known(SpecInfo, data))


@dataclass
class PrefixCacheInfo:
    """How much of the prompts came from the engine's prefix cache."""

    cached_tokens: int = 0
    total_prompt_tokens: int = 0

    @property
    def prefix_cache_hit_rate(self) -> float:
        return _ratio(self.cached_tokens, self.total_prompt_tokens)

    def add(self, meta_info: Mapping[str, Any]) -> None:
        """Count one request in. An engine that does not report its cache counts as one without."""
        self.cached_tokens += meta_info.get("cached_tokens") or 0
        self.total_prompt_tokens += meta_info.get("prompt_tokens") or 0

    def to_dict(self) -> dict[str, int]:
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> PrefixCacheInfo:
        return PrefixCacheInfo(**_known(PrefixCacheInfo, data))


def _known(cls: type, data: Mapping[str, Any]) -> dict[str, Any]:
    return {entry.name: data[entry.name] for entry in fields(cls) if entry.name in data}


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole > 0 else 0.0
