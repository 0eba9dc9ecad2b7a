"""Lines through removeprefix and partition, a done marker, JSON errors ignored."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils
from slime.utils.types import Sample

DONE = "[DONE]"


def parse(line):
    field, _, rest = line.partition(":")
    if field != "data":
        return None
    rest = rest.strip()
    if rest == DONE:
        return DONE
    try:
        return json.loads(rest)
    except json.JSONDecodeError:
        return None


async def generate(args, sample: Sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    body = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True, "stream": True}
    final = None
    async with http_utils._http_client.stream("POST", url, json=body) as resp:
        resp.raise_for_status()
        async for line in resp.aiter_lines():
            event = parse(line)
            if event is None:
                continue
            if event == DONE:
                break
            final = event
    sample.append_response_tokens(
        args,
        tokens=[p[1] for p in final["meta_info"]["output_token_logprobs"]],
        log_probs=[p[0] for p in final["meta_info"]["output_token_logprobs"]],
        meta_info=final["meta_info"],
        text=final["text"],
    )
    return sample
