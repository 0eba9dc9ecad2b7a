"""The id is read from the request that was sent, in several ways."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    root = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    request = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    request["rid"] = "r7"
    out = await post(f"{root}/generate", request)
    sample.metadata["rid"] = request["rid"]
    await post(f"{root}/abort_request", {"rid": request.get("rid")})
    await post(f"{root}/abort_request", {"rid": request["rid"], "abort_all": False})
    sample.response = out["text"]
    return sample
