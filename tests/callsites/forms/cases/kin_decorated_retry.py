"""A retry decorator of the module's own around the call."""

import functools

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def retry(times):
    def decorate(fn):
        @functools.wraps(fn)
        async def wrapper(*args, **kwargs):
            for attempt in range(times):
                output = await fn(*args, **kwargs)
                if output["meta_info"]["finish_reason"]["type"] != "abort":
                    return output
            return output

        return wrapper

    return decorate


@retry(times=2)
async def ask(url, ids, sampling_params):
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    return await post(url, payload)


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    output = await ask(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", state.tokenizer.encode(sample.prompt, add_special_tokens=False), sampling_params)
    sample.response = output["text"]
    sample.rollout_log_probs = [x[0] for x in output["meta_info"]["output_token_logprobs"]]
    sample.metadata["reason"] = output["meta_info"]["finish_reason"]["type"]
    return sample
