"""Every sampling parameter that upstream sends."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    params = dict(
        temperature=0.7, top_p=0.9, top_k=None, min_p=0.0, stop=None, stop_token_ids=[5], skip_special_tokens=False,
        no_stop_trim=True, spaces_between_special_tokens=False, repetition_penalty=1.1, sampling_seed=11, min_new_tokens=2,
        custom_params={"return_top_p_token_ids": True}, ignore_eos=True,
    )
    if sample.index:
        params["max_new_tokens"] = sampling_params["max_new_tokens"]
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": params}
    output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    sample.response = output["text"]
    return sample
