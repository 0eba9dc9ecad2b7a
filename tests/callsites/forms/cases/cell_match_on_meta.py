"""match on the answer and on its parts."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    answer = await post(
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
        {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True},
    )
    match answer:
        case {"meta_info": {"finish_reason": {"type": "abort"}}}:
            sample.status = sample.Status.ABORTED
        case {"text": text, "meta_info": {"finish_reason": {"type": "length", "length": n}}}:
            sample.response, sample.metadata["n"] = text, n
            sample.status = sample.Status.TRUNCATED
        case {"text": text, "meta_info": {"output_token_logprobs": [[first, token, *_], *rest]}}:
            sample.response = text
            sample.metadata["first"] = [first, token, len(rest)]
    return sample
