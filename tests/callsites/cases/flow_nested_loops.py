"""Loops in loops, with else, continue and break at every level."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    found = None
    for heat in (0.2, 0.8):
        request = {"input_ids": ids, "sampling_params": {**sampling_params, "temperature": heat}, "return_logprob": True}
        for _ in range(2):
            answer = await post(url, request)
            if not answer["text"]:
                continue
            if answer["meta_info"]["finish_reason"]["type"] == "stop":
                found = answer
                break
        else:
            sample.metadata.setdefault("failed", []).append(request["sampling_params"]["temperature"])
            continue
        break
    else:
        sample.metadata["nothing"] = len(request["input_ids"])
    if found is not None:
        sample.response = found["text"]
        sample.tokens = request["input_ids"] + [token for _, token, _ in found["meta_info"]["output_token_logprobs"]]
    return sample
