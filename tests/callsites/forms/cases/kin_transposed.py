"""The pairs are transposed."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    text, info = output["text"], output["meta_info"]
    if not info["output_token_logprobs"]:
        sample.status = sample.Status.ABORTED
        return sample
    logps, toks, *_ = zip(*info["output_token_logprobs"], strict=True)
    sample.tokens = [*ids, *toks]
    sample.rollout_log_probs = list(logps)
    sample.response, sample.response_length = text, len(toks)
    sample.metadata["min"] = min(info["output_token_logprobs"], key=lambda pair: pair[0])[1]
    return sample
