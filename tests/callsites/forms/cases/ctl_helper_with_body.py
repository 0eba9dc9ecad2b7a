"""One helper for every route, bodies of every kind."""

from slime.utils.http_utils import post


async def call(base, name, **options):
    body = {k: v for k, v in options.items() if v is not None}
    return await post(f"{base}/{name}", body)


async def generate(args, sample, sampling_params):
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    await call(base, "pause_generation", mode="in_place")
    await call(base, "release_memory_occupation", tags=None)
    await call(base, "resume_memory_occupation", tags=["weights"])
    await call(base, "resume_memory_occupation", tags=["kv_cache", "cuda_graph"])
    await call(base, "continue_generation")
    await call(base, "abort_request", abort_all=True)
    return sample
