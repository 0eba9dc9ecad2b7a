"""The request is a dataclass turned into a dict without its empty fields."""

import dataclasses

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@dataclasses.dataclass
class Request:
    input_ids: list
    sampling_params: dict
    return_logprob: bool = True
    rid: str | None = None

    def to_dict(self):
        return {k: v for k, v in dataclasses.asdict(self).items() if v is not None}


async def generate(args, sample, sampling_params):
    request = Request(GenerateState(args).tokenizer.encode(sample.prompt), sampling_params)
    out = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", request.to_dict())
    sample.response = out["text"]
    sample.tokens = request.input_ids + [r[1] for r in out["meta_info"]["output_token_logprobs"]]
    sample.metadata["wanted"] = request.return_logprob
    return sample
