"""Every sampling parameter that has another name or other values there."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sampling_params["min_new_tokens"] = 2
    sampling_params["sampling_seed"] = 1234
    sampling_params["repetition_penalty"] = 1.1
    sampling_params["top_k"] = None
    sampling_params["top_p"] = 0.95
    sampling_params["ignore_eos"] = True
    sampling_params["stop"] = ["</s>", "\n\n"]
    sampling_params["stop_token_ids"] = [0, 256]
    sampling_params["skip_special_tokens"] = False
    sampling_params["no_stop_trim"] = True
    sampling_params["spaces_between_special_tokens"] = False
    sampling_params["n"] = 1
    out = await post(url, {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params})
    sample.response = out["text"]
    sample.metadata["seed"] = sampling_params["sampling_seed"]
    sample.metadata["keys"] = sorted(sampling_params)
    return sample
