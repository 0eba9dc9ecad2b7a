"""The pairs are turned into columns."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    meta_info = out["meta_info"]
    logps, tokens, _texts = zip(*meta_info["output_token_logprobs"])
    sample.tokens = ids + list(tokens)
    sample.rollout_log_probs = list(logps)
    sample.response_length = len(tokens)
    sample.metadata["same"] = list(zip(*meta_info["output_token_logprobs"], strict=True))[1] == tokens
    return sample
