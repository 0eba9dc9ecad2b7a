"""The pairs are unpacked in a for statement, with a name for what nobody uses."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    entropy, worst = 0.0, None
    for position, (logprob, token, _) in enumerate(out["meta_info"]["output_token_logprobs"]):
        ids.append(token)
        entropy -= logprob
        if worst is None or logprob < worst[1]:
            worst = (position, logprob)
    sample.tokens = ids
    sample.metadata |= {"entropy": round(entropy, 4), "worst": list(worst)}
    return sample
