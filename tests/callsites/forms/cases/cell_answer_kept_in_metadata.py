"""Answers are kept in the sample's metadata and read from there."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sample.metadata["raw"] = []
    for extra in ([], [33]):
        sample.metadata["raw"].append(await post(url, {"input_ids": ids + extra, "sampling_params": sampling_params, "return_logprob": True}))
    summary = []
    for raw in sample.metadata.pop("raw"):
        summary.append({"text": raw["text"], "n": raw["meta_info"]["completion_tokens"], "finish": raw["meta_info"]["finish_reason"]["type"]})
    sample.metadata["summary"] = summary
    return sample
