"""Arguments travel as tuples and dicts."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    call = (f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    options = {"max_retries": 2, "headers": None}
    output = await post(*call, **options)
    text, meta = output["text"], output["meta_info"]
    sample.response = text
    sample.rollout_log_probs, sample.metadata["toks"] = map(list, list(zip(*meta["output_token_logprobs"], strict=True))[:2])
    named = {"url": call[0], "payload": call[1]}
    again = await post(**named)
    sample.metadata["again"] = again["text"]
    return sample
