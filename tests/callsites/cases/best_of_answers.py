"""The best answer is chosen by a key over all of them."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    candidates = {}
    for name, heat in (("cold", 0.2), ("warm", 1.0)):
        request = dict(input_ids=ids, sampling_params=dict(sampling_params, temperature=heat), return_logprob=True)
        candidates[name] = await post(url, request)
    winner = max(candidates, key=lambda name: sum(p[0] for p in candidates[name]["meta_info"]["output_token_logprobs"]))
    sample.response = candidates[winner]["text"]
    sample.metadata["winner"] = winner
    finished = [a for a in candidates.values() if a["meta_info"]["finish_reason"]["type"] == "stop"]
    sample.metadata["finished"] = len(finished)
    return sample
