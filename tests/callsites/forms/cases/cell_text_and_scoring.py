"""A text prompt, then the whole scored."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    first = await post(url, {"text": sample.prompt, "sampling_params": sampling_params})
    whole = state.tokenizer.encode(sample.prompt + first["text"])
    scored = await post(
        url,
        {
            "input_ids": whole,
            "sampling_params": {"max_new_tokens": 0, "temperature": 0.0},
            "return_logprob": True,
            "logprob_start_len": 0,
        },
    )
    entries = scored["meta_info"]["input_token_logprobs"]
    sample.metadata["first"] = entries[0][0]
    sample.metadata["scores"] = [[lp, tok] for lp, tok, _ in entries[1:]]
    sample.metadata["length"] = scored["meta_info"]["prompt_tokens"]
    sample.response = first["text"]
    return sample
