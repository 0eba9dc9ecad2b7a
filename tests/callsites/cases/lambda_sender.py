"""The sender is a lambda, or one of two functions."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def dry_run(url, payload):
    return {"text": "dry", "meta_info": {"finish_reason": {"type": "stop"}, "completion_tokens": 0}}


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    send = lambda body: post(url, body)  # noqa: E731
    answer = await send({"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    sample.tokens = ids + [p[1] for p in answer["meta_info"]["output_token_logprobs"]]
    chosen = dry_run if getattr(args, "dry", False) else post
    other = await chosen(url, {"input_ids": ids, "sampling_params": sampling_params})
    sample.response = answer["text"] + other["text"]
    sample.metadata["kind"] = other["meta_info"]["finish_reason"]["type"]
    return sample
