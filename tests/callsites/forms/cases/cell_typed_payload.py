"""The body is a TypedDict and the answer a dataclass, both of the module's own."""

from dataclasses import dataclass, field
from typing import Any, TypedDict

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Body(TypedDict, total=False):
    input_ids: list[int]
    sampling_params: dict[str, Any]
    return_logprob: bool


@dataclass
class Reply:
    text: str
    finish: str
    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)

    @classmethod
    def parse(cls, raw: dict[str, Any]) -> "Reply":
        info = raw["meta_info"]
        rows = info.get("output_token_logprobs", [])
        return cls(raw["text"], info["finish_reason"]["type"], [r[1] for r in rows], [r[0] for r in rows])


async def generate(args, sample, sampling_params):
    tok = GenerateState(args).tokenizer
    body: Body = Body(input_ids=tok.encode(sample.prompt), sampling_params=sampling_params, return_logprob=True)
    reply = Reply.parse(await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", body))
    sample.response, sample.response_length = reply.text, len(reply.tokens)
    sample.rollout_log_probs = reply.logprobs
    sample.tokens = body["input_ids"] + reply.tokens
    sample.metadata["finish"] = reply.finish
    return sample
