"""The sender under other names: a module's attribute, an alias, a local import."""

import slime.utils.http_utils as http
from slime.rollout import sglang_rollout
from slime.utils import http_utils
from slime.utils.http_utils import post as send


async def generate(args, sample, sampling_params):
    from slime.utils.http_utils import post

    ids = sglang_rollout.GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    body = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    texts = []
    for sender in (http.post, http_utils.post, send, post):
        output = await sender(url, body)
        texts.append(output["text"])
    direct = [await http.post(url, body), await http_utils.post(url, body), await send(url, body)]
    texts += [output["text"] for output in direct]
    sample.metadata["texts"] = texts
    sample.metadata["tokens"] = [[p[1] for p in output["meta_info"]["output_token_logprobs"]] for output in direct]
    return sample
