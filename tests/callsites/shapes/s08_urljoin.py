"""The address comes from urljoin; get_model_url is given its endpoint."""

from urllib.parse import urljoin

from slime.rollout.sglang_rollout import GenerateState, get_model_url
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    base = "http://%s:%s" % (args.sglang_router_ip, args.sglang_router_port)
    one = await post(urljoin(base, "/generate"), {"input_ids": state.tokenizer.encode("a"), "sampling_params": sampling_params})
    two = await post(url=get_model_url(args, "actor", "/generate"), payload={"input_ids": state.tokenizer.encode("b"), "sampling_params": sampling_params})
    three = await post("/".join([base, "generate"]), {"input_ids": state.tokenizer.encode("c"), "sampling_params": sampling_params})
    sample.response = "".join(o["text"] for o in (one, two, three))
    return sample
