"""Dict unions."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

DEFAULTS = {"temperature": 0.6, "top_p": 0.95, "max_new_tokens": 12, "sampling_seed": 3}


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    params = DEFAULTS | sampling_params
    params |= {"stop_token_ids": [33], "ignore_eos": True}
    payload = {"sampling_params": params} | {"return_logprob": True}
    payload |= {"input_ids": state.tokenizer.encode(sample.prompt, add_special_tokens=False)}
    output = await post(url, payload)
    for index, (logp, token, _) in enumerate(output["meta_info"]["output_token_logprobs"]):
        if token == 33:
            sample.metadata["cut"] = index
        sample.tokens.append(token)
        sample.rollout_log_probs = (sample.rollout_log_probs or []) + [logp]
    sample.metadata["budget"] = params["max_new_tokens"] - output["meta_info"]["completion_tokens"]
    return sample
