"""No logprobs were asked for, and they are read all the same: KeyError, as upstream."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    sample.tokens = [pair[1] for pair in output["meta_info"]["output_token_logprobs"]]
    return sample
