"""The answer is put into strings in all the ways there are."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    out = await post(url, {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": sampling_params})
    sample.metadata["strings"] = [
        f"{out['text']!r} after {out['meta_info']['prompt_tokens']}",
        f"{out['meta_info']['finish_reason']['type']:>8}",
        "%(text)s" % out,
        "{text}".format(**out),
        "{0[text]}".format(out),
        "{}".format(out["text"]),
        out["text"].split("l")[0] + out["text"][1:].upper(),
    ]
    sample.response = "".join([sample.response, out["text"]])
    return sample
