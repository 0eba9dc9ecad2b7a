"""Everything comes by a star import."""

from slime.rollout.sglang_rollout import *  # noqa: F403
from slime.utils.http_utils import *  # noqa: F403


async def generate(args, sample, sampling_params):
    state = GenerateState(args)  # noqa: F405
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True})  # noqa: F405
    sample.response = output["text"]
    sample.update_from_meta_info(args, output["meta_info"])
    sample.metadata["n"] = len(output["meta_info"]["output_token_logprobs"])
    return sample
