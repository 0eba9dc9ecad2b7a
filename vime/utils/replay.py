"""What the engine did while it sampled, kept so that the trainer can do the same: routed experts and top-p sets.

Everything is a numpy array of int32; numpy is imported when the first array is made.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_TOP_P_IDS = ("top_p_token_ids", "top_p_kept_token_ids")
_TOP_P_OFFSETS = ("top_p_token_offsets", "top_p_kept_token_offsets")


def decode_int32_meta_array(meta_info: Mapping[str, Any], keys: str | Iterable[str]) -> np.ndarray | None:
    """The first of `keys` that `meta_info` has, as a flat int32 array; None where it has none, or None there.

    The value is base64 of raw little-endian int32, those bytes themselves, or anything numpy makes an array of.
    """
    names = (keys,) if isinstance(keys, str) else tuple(keys)
    value = next((meta_info[name] for name in names if name in meta_info), None)
    return None if value is None else _int32(value)


def _int32(value: Any) -> np.ndarray:
    import numpy as np

    if isinstance(value, str):
        value = base64.b64decode(value, validate=True)
    if isinstance(value, bytes | bytearray | memoryview):
        return np.frombuffer(value, dtype="<i4").astype(np.int32)
    return np.array(value, dtype=np.int32).reshape(-1)


@dataclass(frozen=True)
class TopPSets:
    """For each token the ids that sampling kept: token i's are `ids[offsets[i]:offsets[i + 1]]`.

    Guaranteed: offsets start with 0, never fall and end at `len(ids)`.
    """

    ids: np.ndarray
    offsets: np.ndarray

    def __post_init__(self) -> None:
        bounds = self.offsets
        if len(bounds) == 0 or bounds[0] != 0 or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("top-p offsets must start with 0 and never fall")
        if bounds[-1] != len(self.ids):
            raise ValueError(f"top-p offsets end at {bounds[-1]}, but there are {len(self.ids)} token ids")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, ids: Any, offsets: Any) -> TopPSets | None:
        """The sets that two parallel fields hold; None where both are None."""
        if ids is None and offsets is None:
            return None
        if ids is None or offsets is None:
            raise ValueError("top-p replay needs both token ids and offsets")
        return cls(_int32(ids), _int32(offsets))

    @classmethod
    def from_meta_info(cls, meta_info: Mapping[str, Any]) -> TopPSets | None:
        return cls.of(
            decode_int32_meta_array(meta_info, _TOP_P_IDS), decode_int32_meta_array(meta_info, _TOP_P_OFFSETS)
        )

    def extended(self, more: TopPSets) -> TopPSets:
        import numpy as np

        ids = np.concatenate([self.ids, more.ids])
        return TopPSets(ids, np.concatenate([self.offsets, more.offsets[1:] + self.offsets[-1]]))

    def padded(self, tokens: int) -> TopPSets:
        """With `tokens` empty sets behind."""
        import numpy as np

        return TopPSets(self.ids, np.concatenate([self.offsets, np.full(tokens, self.offsets[-1], np.int32)]))


def routed_experts(
    meta_info: Mapping[str, Any], token_count: int, num_layers: int, topk: int, existing: Any = None
) -> np.ndarray | None:
    """The experts of every position but the last, shaped (position, layer, expert); None where the engine sent none.

    With `routed_experts_start_len` in `meta_info` the engine sent the positions from there on, and `existing` gives
    those before.
    """
    flat = decode_int32_meta_array(meta_info, "routed_experts")
    if flat is None:
        return None
    import numpy as np

    start = int(meta_info.get("routed_experts_start_len") or 0)
    rows = max(0, token_count - 1 - start)
    if start < 0 or flat.size != rows * num_layers * topk:
        raise ValueError(
            f"routed_experts holds {flat.size} values; {token_count} tokens from {start} on, {num_layers} layers "
            f"and top-{topk} need {rows * num_layers * topk}"
        )
    fresh = flat.reshape(rows, num_layers, topk)
    if start == 0:
        return fresh
    known = np.asarray([] if existing is None else existing, dtype=np.int32)
    if len(known) < start:
        raise ValueError(f"routed_experts begins at position {start}, but only {len(known)} positions are known")
    return np.concatenate([known[:start], fresh])
