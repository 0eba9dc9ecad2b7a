"""One function of the module sends to the engine and to another service."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def call(url, payload):
    answer = await post(url, payload, max_retries=2)
    return answer


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    found = await call("http://search:8/retrieve", {"text": sample.prompt, "topk": 2})
    ids = state.tokenizer.encode(found["text"])
    output = await call(
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
        {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True},
    )
    sample.tokens = ids + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    sample.metadata["found"] = [found["text"], found["meta_info"]["total"]]
    sample.response = output["text"]
    return sample
