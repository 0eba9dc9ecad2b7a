"""A helper of the module's own takes the answer apart; the caller never sees its keys."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


def parse(answer):
    meta = answer["meta_info"]
    pairs = meta.get("output_token_logprobs", [])
    return answer["text"], [pair[1] for pair in pairs], [pair[0] for pair in pairs], meta["finish_reason"]["type"]


async def generate(args, sample: Sample, sampling_params) -> Sample:
    tokenizer = GenerateState(args).tokenizer
    prompt = tokenizer.encode(sample.prompt, add_special_tokens=False)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    text, ids, logps, kind = parse(
        await post(url, {"input_ids": prompt, "sampling_params": sampling_params, "return_logprob": True})
    )
    sample.tokens, sample.response, sample.response_length = prompt + ids, text, len(ids)
    sample.rollout_log_probs = logps
    sample.status = Sample.Status.TRUNCATED if kind == "length" else Sample.Status.COMPLETED
    return sample
