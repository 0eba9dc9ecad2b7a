"""Assignment expressions, and a while loop that asks until the answer is good."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    tries = 0
    while (reason := (output := await post(url, payload := {"input_ids": ids, "sampling_params": sampling_params}))["meta_info"]["finish_reason"]["type"]) != "stop":
        if (tries := tries + 1) >= 3 or reason == "abort":
            break
        ids = payload["input_ids"] + state.tokenizer.encode("|", add_special_tokens=False)
    sample.metadata["tries"] = tries
    sample.metadata["reason"] = reason
    if (answer := output["text"].strip()):
        sample.response = answer
    sample.tokens = ids
    return sample
