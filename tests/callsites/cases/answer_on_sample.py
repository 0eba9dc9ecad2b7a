"""The answer is kept on the sample and read from there by somebody else."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


def settle(args, sample):
    last = sample.metadata.pop("last_answer")
    sample.append_response_tokens(
        args,
        tokens=[pair[1] for pair in last["meta_info"]["output_token_logprobs"]],
        log_probs=[pair[0] for pair in last["meta_info"]["output_token_logprobs"]],
        meta_info=last["meta_info"],
        text=last["text"],
    )
    return sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sample.tokens = state.tokenizer.encode(sample.prompt)
    sample.metadata["last_answer"] = await post(
        url, {"input_ids": sample.tokens, "sampling_params": sampling_params, "return_logprob": True}
    )
    return settle(args, sample)
