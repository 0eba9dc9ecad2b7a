"""Common fields spread into each payload."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    common = {"sampling_params": {**sampling_params, "no_stop_trim": True, "stop": ["</tool>"]}, "return_logprob": True}
    if args.use_rollout_routing_replay:
        common["return_routed_experts"] = True
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    text = ""
    for turn in range(2):
        out = await post(url, {**common, "input_ids": ids})
        text += out["text"]
        ids = ids + [t for _, t, *_ in out["meta_info"]["output_token_logprobs"]]
        sample.update_from_meta_info(args, out["meta_info"])
        if not out["text"].endswith("</tool>"):
            break
        ids += state.tokenizer.encode("[ok]", add_special_tokens=False)
        text += "[ok]"
    sample.tokens, sample.response = ids, text
    return sample
