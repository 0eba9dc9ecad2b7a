"""The URL from a template with names, by format_map, by join."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

TEMPLATE = "http://{host}:{port}/generate"
PARTS = ["http:/", "{}:{}", "generate"]


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    where = {"host": args.sglang_router_ip, "port": args.sglang_router_port}
    urls = [
        TEMPLATE.format(**where),
        TEMPLATE.format(host=args.sglang_router_ip, port=args.sglang_router_port),
        "/".join(PARTS).format(args.sglang_router_ip, args.sglang_router_port),
        "http://%(host)s:%(port)s/generate" % where,
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}" "/generate",
    ]
    for url in urls:
        out = await post(url, {"input_ids": ids, "sampling_params": sampling_params})
        sample.metadata.setdefault("texts", []).append(out["text"])
    return sample
