"""What is not needed is taken out."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    answer = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    pairs = answer["meta_info"].pop("output_token_logprobs", None)
    cached = answer["meta_info"].pop("cached_tokens", 0)
    sample.response = answer.pop("text")
    del answer["meta_info"]["prompt_tokens"]
    sample.metadata["left"] = [
        "text" in answer,
        "prompt_tokens" in answer["meta_info"],
        answer["meta_info"].get("output_token_logprobs"),
        answer.get("text", "gone"),
    ]
    sample.metadata["cached"] = cached
    sample.tokens = ids + [token for _, token, _ in pairs]
    return sample
