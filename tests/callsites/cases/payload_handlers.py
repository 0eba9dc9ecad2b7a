"""Payloads are read by functions in a table, in a sort key, by an itemgetter, by keys that are values."""

from operator import itemgetter

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

HANDLERS = {"size": lambda body: len(body["input_ids"]), "limit": lambda body: body["sampling_params"]["max_new_tokens"]}


async def generate(args, sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payloads = [
        {"input_ids": tokenizer.encode(text), "sampling_params": sampling_params, "return_logprob": True}
        for text in ("long enough", sample.prompt)
    ]
    payloads.sort(key=lambda body: len(body["input_ids"]))
    shortest = min(payloads, key=lambda body: HANDLERS["size"](body))
    outputs = [await post(url, body) for body in payloads]
    sample.metadata["facts"] = {name: handle(shortest) for name, handle in HANDLERS.items()}
    sample.metadata["ids"] = itemgetter("input_ids")(shortest)
    sample.metadata["values"] = [shortest[key] for key in ("input_ids", "return_logprob")]
    sample.metadata["joined"] = [
        body["input_ids"] + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
        for body, output in zip(payloads, outputs, strict=True)
    ]
    return sample
