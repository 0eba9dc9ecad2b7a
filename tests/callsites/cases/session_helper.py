"""The routing header is made by a helper, for one of two policies."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

STICKY = ("consistent_hashing",)


def routing_headers(args, sample):
    if getattr(args, "router_policy", None) in STICKY and sample.session_id:
        return {"X-SMG-Routing-Key": sample.session_id}
    return None


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    output = await post(url, payload, headers=routing_headers(args, sample))
    headers = {"x-request-source": "rollout"}
    headers.update(routing_headers(args, sample) or {})
    again = await post(url, payload, headers=headers)
    sample.response = output["text"] + again["text"]
    return sample
