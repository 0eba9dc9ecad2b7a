"""The affinity header is one of several."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

AFFINITY = "X-SMG-Routing-Key"
STICKY = ("consistent_hashing",)


def headers_for(args, sample):
    headers = {"X-Trace": "1"}
    if args.router_policy in STICKY and sample.session_id is not None:
        headers[AFFINITY] = str(sample.session_id)
    return headers


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}, headers=headers_for(args, sample))
    sample.response = out["text"]
    return sample
