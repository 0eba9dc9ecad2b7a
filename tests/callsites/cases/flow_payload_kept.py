"""The payload itself is stored where others find it."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def what_was_asked(sample):
    return sample.metadata["request"]["input_ids"], sample.metadata["request"]["sampling_params"]["max_new_tokens"]


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sample.metadata["request"] = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    output = await post(url, sample.metadata["request"])
    asked, limit = what_was_asked(sample)
    sample.tokens = asked + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    sample.metadata["limit"] = limit
    del sample.metadata["request"]
    return sample
