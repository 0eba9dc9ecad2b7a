"""Tags and modes that are computed."""

from slime.utils.http_utils import post

ALL = ("weights", "kv_cache", "cuda_graph")


async def generate(args, sample, sampling_params):
    root = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    await post(f"{root}/release_memory_occupation", {"tags": list(ALL)})
    await post(f"{root}/resume_memory_occupation", {"tags": [t for t in ALL if t == "weights"]})
    await post(url=f"{root}/resume_memory_occupation", payload={"tags": [*ALL[1:]]})
    body = {"mode": "in_place"}
    await post(f"{root}/pause_generation", body)
    body["mode"] = "retract"
    await post(f"{root}/pause_generation", body)
    await post(f"{root}/continue_generation", {})
    return sample
