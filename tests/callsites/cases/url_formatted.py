"""The URL is made by % and by format, from a template that is a constant."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

TEMPLATE = "http://{host}:{port}/generate"


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    body = {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    one = await post("http://%s:%s/generate" % (args.sglang_router_ip, args.sglang_router_port), body)
    two = await post(TEMPLATE.format(host=args.sglang_router_ip, port=args.sglang_router_port), body)
    where = {"host": args.sglang_router_ip, "port": args.sglang_router_port}
    three = await post("http://%(host)s:%(port)d/generate" % where, body)
    sample.metadata["texts"] = [one["text"], two["text"], three["text"]]
    return sample
