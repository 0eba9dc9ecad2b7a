"""The payload is a dataclass, and so are its parameters."""

from dataclasses import asdict, dataclass, field

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@dataclass
class Sampling:
    max_new_tokens: int = 16
    temperature: float = 1.0


@dataclass
class Request:
    input_ids: list[int]
    sampling_params: Sampling = field(default_factory=Sampling)
    return_logprob: bool = True


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    request = Request(state.tokenizer.encode(sample.prompt), Sampling(**sampling_params))
    out = await post(url, asdict(request))
    sample.tokens = request.input_ids + [p[1] for p in out["meta_info"]["output_token_logprobs"]]
    sample.metadata["budget"] = request.sampling_params.max_new_tokens
    return sample
