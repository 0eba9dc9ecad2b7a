"""Walrus everywhere."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    if (info := (out := await post(url, (request := {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})))["meta_info"])["finish_reason"]["type"] == "abort":
        sample.status = sample.Status.ABORTED
        return sample
    if pairs := info.get("output_token_logprobs"):
        sample.rollout_log_probs = [lp for lp, _tok, _txt in pairs]
    sample.metadata["asked"] = len(request["input_ids"])
    sample.metadata["version"] = info.get("weight_version")
    sample.response = out.get("text", "")
    return sample
