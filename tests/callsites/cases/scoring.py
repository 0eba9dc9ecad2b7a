"""A finished sample is scored by the engine: no new token, the prompt's log-probabilities."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {
        "input_ids": sample.tokens,
        "sampling_params": {"temperature": 0, "max_new_tokens": 0},
        "return_logprob": True,
        "logprob_start_len": 0,
    }
    scored = await post(url, payload)
    prompt_pairs = scored["meta_info"]["input_token_logprobs"]
    sample.metadata["first"] = prompt_pairs[0][0]
    sample.metadata["ids"] = [token for _, token, _ in prompt_pairs]
    sample.teacher_log_probs = [lp for lp, _, _ in prompt_pairs[1:]][-sample.response_length :]
    sample.metadata["generated"] = len(scored["meta_info"].get("output_token_logprobs", []))
    sample.metadata["text"] = scored["text"]
    return sample
