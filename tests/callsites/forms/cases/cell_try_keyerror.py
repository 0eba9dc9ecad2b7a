"""Missing logprobs are a KeyError that is caught."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": sampling_params["temperature"] > 0})
    try:
        pairs = output["meta_info"]["output_token_logprobs"]
    except KeyError as e:
        sample.metadata["missing"] = str(e)
        pairs = []
    sample.metadata["has"] = "output_token_logprobs" in output["meta_info"]
    sample.tokens = ids + [p[1] for p in pairs]
    sample.response = output["text"]
    return sample
