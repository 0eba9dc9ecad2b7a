"""vLLM's answers as its server writes them, for tests of the seam."""

import base64
import struct
from typing import Any


class Bytes:
    """A tokenizer with one token a byte; 256 begins a sequence, 257 ends one."""

    eos_token_id = 257

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [256] * add_special_tokens + list(text.encode())

    def decode(self, ids: list[int], skip_special_tokens: bool = False) -> str:
        return bytes(i for i in ids if i < 256).decode("utf-8", errors="replace")


def choice(ids: list[int], finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    content = [{"token_id": i, "logprob": -0.5 - n / 10, "rank": 1, "top_logprobs": []} for n, i in enumerate(ids)]
    return {
        "index": 0,
        "finish_reason": finish,
        "stop_reason": None,
        "token_ids": ids,
        "routed_experts": None,
        "sampling_mask": None,
        "weight_versions": [{"version": "7", "start": 0, "end": len(ids)}] if finish else None,
        "logprobs": {"content": content},
        **more,
    }


def answer(*choices: dict[str, Any], prompt: int = 3, cached: int | None = 2, **more: Any) -> dict[str, Any]:
    details = {"cached_tokens": cached} if cached is not None else None
    done = sum(len(c["token_ids"]) for c in choices)
    usage = {"prompt_tokens": prompt, "completion_tokens": done, "prompt_tokens_details": details}
    return {
        "request_id": "generate-tokens-r1",
        "usage": usage,
        "prompt_logprobs": None,
        "choices": list(choices),
        **more,
    }


def npy(values: list[int], kind: str = "|u1", fortran: bool = False, shape: tuple[int, ...] | None = None) -> str:
    """Base64 of a .npy file."""
    code = {"|u1": "B", "<u2": "H", ">u2": "H"}[kind]
    head = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape or (len(values),)}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    body = struct.pack(f"{'>' if kind[0] == '>' else '<'}{len(values)}{code}", *values)
    return base64.b64encode(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + body).decode()


def int32(encoded: str) -> list[int]:
    raw = base64.b64decode(encoded)
    return list(struct.unpack(f"<{len(raw) // 4}i", raw))
