"""The answer is merged into other mappings, and others into it."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    answer = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    record = {**answer, "turn": 1}
    again = dict(answer)
    again |= {"turn": 2}
    third = answer | {"turn": 3}
    sample.response = record["text"] + again["text"] + third["text"]
    meta = answer["meta_info"]
    meta |= {"tool": "none"}
    meta["rounds"] = 1
    meta.update(score=0.5)
    sample.metadata["extra"] = [meta["tool"], answer["meta_info"]["rounds"], record["meta_info"]["score"]]
    sample.tokens = ids + [p[1] for p in third["meta_info"]["output_token_logprobs"]]
    sample.update_from_meta_info(args, {**meta, "cached_tokens": 1})
    return sample
