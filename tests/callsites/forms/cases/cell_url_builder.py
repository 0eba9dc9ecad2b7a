"""The URL comes from a cached builder."""

from functools import lru_cache

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@lru_cache(maxsize=None)
def build_url(host, port, route="generate"):
    return "http://{}:{}/{}".format(host, port, route)


async def generate(args, sample, sampling_params):
    url = build_url(args.sglang_router_ip, args.sglang_router_port)
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    output = await post(url, dict(input_ids=ids, sampling_params=sampling_params, return_logprob=True))
    sample.response = output["text"]
    sample.tokens = ids + [tok for _, tok, *_ in output["meta_info"]["output_token_logprobs"]]
    return sample
