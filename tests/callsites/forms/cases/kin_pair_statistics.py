"""Pairs are filtered, sliced, indexed from the end."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    entries = output["meta_info"]["output_token_logprobs"]
    unsure = [entry for entry in entries if entry[0] < -0.52]
    sample.metadata["unsure"] = {entry[1]: round(entry[0], 4) for entry in unsure}
    sample.metadata["last"] = entries[-1][1] if entries else None
    sample.metadata["head"] = [token for _, token, *_ in entries[:2]]
    sample.metadata["mean"] = round(sum(lp for lp, *_ in entries) / max(1, len(entries)), 4)
    first, *rest = entries
    sample.metadata["first"] = first[1]
    sample.metadata["rest"] = len(rest)
    sample.metadata["reversed"] = [e[1] for e in reversed(entries)]
    sample.metadata["where"] = next((i for i, e in enumerate(entries) if e[1] == 108), -1)
    sample.response = output["text"]
    return sample
