"""Nobody asked for log-probabilities, and reading them raises as it always did."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params})
    sample.response = output["text"]
    sample.tokens = [item[1] for item in output["meta_info"]["output_token_logprobs"]]
    return sample
