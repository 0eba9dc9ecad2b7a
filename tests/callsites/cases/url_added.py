"""The URL is a sum, and its last part a constant of the module."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

PATH = "/generate"


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    router = "http://" + args.sglang_router_ip + ":" + str(args.sglang_router_port)
    body = {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    first = await post(router + PATH, body)
    url = router
    url += "/generate"
    second = await post(url, body)
    third = await post(f"{router}{PATH}", payload=body)
    sample.metadata["texts"] = [answer["text"] for answer in (first, second, third)]
    return sample
