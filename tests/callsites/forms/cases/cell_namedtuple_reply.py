"""The pairs become named tuples."""

from typing import NamedTuple

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Step(NamedTuple):
    logprob: float
    token: int
    text: str | None = None


async def generate(args, sample, sampling_params):
    out = await post(
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
        {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True},
    )
    steps = [Step(*row) for row in out["meta_info"]["output_token_logprobs"]]
    sample.rollout_log_probs = [s.logprob for s in steps]
    sample.metadata["tokens"] = [s.token for s in steps]
    by_token = {s.token: s.logprob for s in steps}
    sample.metadata["distinct"] = len(by_token)
    sample.response = out["text"]
    return sample
