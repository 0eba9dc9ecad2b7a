"""The prompt is scored on the router first; samples of low perplexity are skipped."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def prompt_logprobs(url, ids):
    payload = {"input_ids": ids, "sampling_params": {"max_new_tokens": 0, "temperature": 0}, "return_logprob": True, "logprob_start_len": 0}
    output = await post(url, payload)
    return [lp for lp, _, _ in output["meta_info"]["input_token_logprobs"] if lp is not None]


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    scores = await prompt_logprobs(url, ids)
    sample.metadata["ppl"] = round(-sum(scores) / max(len(scores), 1), 4)
    if sample.metadata["ppl"] < 0.05:
        sample.status = Sample.Status.FAILED
        return sample
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    sample.response = output["text"]
    sample.tokens = ids + [t for _, t, _ in output["meta_info"]["output_token_logprobs"]]
    return sample
