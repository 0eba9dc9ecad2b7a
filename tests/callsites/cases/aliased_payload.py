"""One dict under two names, changed under either, a key taken away."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"sampling_params": sampling_params, "return_logprob": True, "stream": False}
    request = payload
    request["input_ids"] = ids
    params = payload["sampling_params"]
    params["max_new_tokens"] = 3
    request.pop("stream", None)
    first = await post(url, payload)
    del payload["return_logprob"]
    params["max_new_tokens"] += 1
    second = await post(url, request)
    sample.metadata["has"] = ["output_token_logprobs" in answer["meta_info"] for answer in (first, second)]
    sample.metadata["limit"] = sampling_params["max_new_tokens"]
    sample.response = first["text"] + second["text"]
    return sample
