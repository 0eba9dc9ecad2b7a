"""One helper sends to two routes; the path is an argument."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def call(args, path, body):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    return await post(base + path, body)


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    body = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    result = await call(args, "/generate", body)
    await call(args, "/abort_request", {"abort_all": True})
    sample.response = result["text"]
    sample.rollout_log_probs = [pair[0] for pair in result["meta_info"]["output_token_logprobs"]]
    return sample
