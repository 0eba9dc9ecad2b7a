"""The payload is made in every way that a dict can be made."""

import collections
import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    keys = ("input_ids", "sampling_params", "return_logprob")
    payloads = [
        dict(zip(keys, (ids, sampling_params, True))),
        dict([("input_ids", ids), ("sampling_params", sampling_params), ("return_logprob", True)]),
        json.loads(json.dumps({"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})),
        collections.OrderedDict(input_ids=ids, sampling_params=sampling_params, return_logprob=True),
        dict(collections.ChainMap({"return_logprob": True}, {"input_ids": ids, "sampling_params": sampling_params})),
        {key: setting for key, setting in zip(keys, [ids, sampling_params, True])},
    ]
    for payload in payloads:
        out = await post(url, payload)
        sample.metadata.setdefault("n", []).append(len(out["meta_info"]["output_token_logprobs"]))
    return sample
