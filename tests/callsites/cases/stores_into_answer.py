"""The answer is mended before others read it."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    output["text"] = output["text"].strip().upper()
    if output["meta_info"]["finish_reason"]["type"] == "length":
        output["meta_info"]["finish_reason"]["type"] = "stop"
        output["meta_info"]["finish_reason"] = {**output["meta_info"]["finish_reason"], "mended": True}
    output["meta_info"]["output_token_logprobs"] = output["meta_info"]["output_token_logprobs"][:3]
    output["meta_info"]["cached_tokens"] += 1
    sample.response = output["text"]
    sample.tokens = ids + [pair[1] for pair in output["meta_info"]["output_token_logprobs"]]
    sample.metadata["mended"] = output["meta_info"]["finish_reason"].get("mended", False)
    sample.update_from_meta_info(args, output["meta_info"])
    return sample
