"""The answer unpacked by itemgetter, by values in a loop, by a helper with defaults."""

from operator import itemgetter

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

split = itemgetter("text", "meta_info")


def columns(meta, *names, default=None):
    return [meta.get(name, default) for name in names]


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    text, meta = split(await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}))
    prompt, done, missing = columns(meta, "prompt_tokens", "completion_tokens", "nothing", default=-1)
    logps, toks, _ = zip(*meta["output_token_logprobs"])
    sample.response = text
    sample.metadata["counts"] = [prompt, done, missing]
    sample.tokens, sample.rollout_log_probs = ids + list(toks), list(logps)
    return sample
