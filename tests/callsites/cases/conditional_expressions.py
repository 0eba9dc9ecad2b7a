"""Either side of a condition is a read."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    payload = {"input_ids": ids, "sampling_params": sampling_params}
    payload["return_logprob"] = True if sample.index == 0 else False
    out = await post(url, payload)
    pairs = out["meta_info"]["output_token_logprobs"] if "output_token_logprobs" in out["meta_info"] else []
    tokens = [p[1] for p in pairs] if pairs else state.tokenizer.encode(out["text"], add_special_tokens=False)
    sample.tokens = ids + tokens
    kind = out["meta_info"]["finish_reason"]["type"] if out["meta_info"].get("finish_reason") is not None else "none"
    sample.metadata["kind"] = kind
    sample.metadata["got"] = bool(pairs)
    return sample
