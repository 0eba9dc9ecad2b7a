"""The pairs are read by functions that are values."""

from operator import itemgetter

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

TOKEN, LOGPROB = itemgetter(1), itemgetter(0)


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    pairs = itemgetter("meta_info")(out)["output_token_logprobs"]
    sample.tokens = ids + list(map(TOKEN, pairs))
    sample.rollout_log_probs = list(map(lambda pair: pair[0], pairs))
    sample.metadata["best"] = max(pairs, key=LOGPROB)[1]
    sample.metadata["sorted"] = [pair[1] for pair in sorted(pairs, key=lambda p: (p[0], p[1]))][:2]
    sample.metadata["low"] = len(list(filter(lambda p: p[0] < -0.52, pairs)))
    return sample
