"""while True and break, with the payload and the answer read behind the loop."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": list(ids), "sampling_params": dict(sampling_params), "return_logprob": True}
    rounds = 0
    while True:
        rounds += 1
        output = await post(url, payload)
        payload["input_ids"] += [pair[1] for pair in output["meta_info"]["output_token_logprobs"]]
        payload["sampling_params"]["max_new_tokens"] -= 1
        if output["meta_info"]["finish_reason"]["type"] != "length" or rounds >= 3:
            break
        if payload["sampling_params"]["max_new_tokens"] <= 0:
            return sample
    sample.tokens = payload["input_ids"]
    sample.metadata["left"] = payload["sampling_params"]["max_new_tokens"]
    sample.metadata["asked"] = payload["return_logprob"]
    sample.response = output["text"]
    sample.metadata["last"] = output["meta_info"]["output_token_logprobs"][-1][1]
    return sample
