"""The URL is joined from parts."""

from urllib.parse import urljoin

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    body = {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    outs = [
        await post("/".join([base, "generate"]), body),
        await post(urljoin(base + "/", "generate"), body),
        await post(urljoin(base, "/generate"), body),
    ]
    sample.response = "|".join(out["text"] for out in outs)
    return sample
