"""Options are read through vars and getattr, by name."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    options = vars(args)
    host, port = options["sglang_router_ip"], getattr(args, "sglang_router_port", 30000)
    if not hasattr(args, "sglang_server_concurrency"):
        raise ValueError("no concurrency")
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    output = await post(f"http://{host}:{port}/generate", {"input_ids": ids, "sampling_params": sampling_params})
    sample.response = output["text"]
    sample.metadata["concurrency"] = options.get("sglang_server_concurrency", 0)
    return sample
