"""The URL and the default parameters are the module's, set when it is first used."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

ENGINE_URL = None
SAMPLING = {"temperature": 0.3, "max_new_tokens": 5, "min_new_tokens": 1}


def setup(args):
    global ENGINE_URL
    if ENGINE_URL is None:
        ENGINE_URL = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"


async def generate(args, sample, sampling_params):
    setup(args)
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    output = await post(ENGINE_URL, {"input_ids": ids, "sampling_params": SAMPLING, "return_logprob": True})
    merged = await post(ENGINE_URL, {"input_ids": ids, "sampling_params": {**SAMPLING, **sampling_params}})
    sample.response = output["text"] + merged["text"]
    sample.metadata["limit"] = SAMPLING["max_new_tokens"]
    sample.rollout_log_probs = [p[0] for p in output["meta_info"]["output_token_logprobs"]]
    return sample
