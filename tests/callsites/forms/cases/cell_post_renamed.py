"""post under another name, the request function takes kwargs and forwards them."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post as send_json


async def ask(url, *, headers=None, **fields):
    return await send_json(url, fields, headers=headers)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer(sample.prompt, add_special_tokens=False)["input_ids"]
    out = await ask(
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
        input_ids=ids,
        sampling_params=sampling_params,
        return_logprob=True,
    )
    sample.response = out["text"]
    sample.rollout_log_probs = [row[0] for row in out["meta_info"]["output_token_logprobs"]]
    sample.tokens = ids + [row[1] for row in out["meta_info"]["output_token_logprobs"]]
    sample.response_length = len(sample.tokens) - len(ids)
    return sample
