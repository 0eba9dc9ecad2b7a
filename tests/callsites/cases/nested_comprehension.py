"""Several answers and their pairs in one expression."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    base = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    outputs = [await post(url, base) for _ in range(2)]
    sample.metadata["tokens"] = [tok for out in outputs for _, tok, *_ in out["meta_info"]["output_token_logprobs"]]
    sample.metadata["sums"] = [round(sum(lp for lp, *_ in o["meta_info"]["output_token_logprobs"]), 4) for o in outputs]
    sample.metadata["by_kind"] = {o["meta_info"]["finish_reason"]["type"]: o["text"] for o in outputs}
    sample.metadata["set"] = sorted({p[1] for o in outputs for p in o["meta_info"]["output_token_logprobs"]})
    return sample
