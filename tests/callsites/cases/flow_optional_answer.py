"""The answer may be None on one path, and a helper gives a tuple or nothing."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def maybe(url, payload):
    if not payload["input_ids"]:
        return None
    answer = await post(url, payload)
    if answer["meta_info"]["finish_reason"]["type"] == "abort":
        return None
    return answer, len(payload["input_ids"])


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    got = await maybe(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    empty = await maybe(url, {"input_ids": [], "sampling_params": sampling_params, "return_logprob": True})
    sample.metadata["empty"] = empty is None
    if got is None:
        return sample
    answer, sent = got
    sample.response = answer["text"]
    sample.metadata["sent"] = sent
    sample.rollout_log_probs = [pair[0] for pair in got[0]["meta_info"]["output_token_logprobs"]]
    return sample
