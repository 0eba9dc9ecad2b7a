"""The answer goes through JSON, a deep copy and pickle, whole."""

import copy
import json
import pickle

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt)
    answer = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    frozen = json.loads(json.dumps(answer))
    shallow, deep, pickled = copy.copy(answer), copy.deepcopy(answer), pickle.loads(pickle.dumps(answer))
    answer["text"] = "changed"
    versions = (frozen, shallow, deep, pickled)
    sample.metadata["texts"] = [version["text"] for version in versions]
    sample.metadata["tokens"] = [[p[1] for p in version["meta_info"]["output_token_logprobs"]] for version in versions]
    sample.metadata["kinds"] = [version["meta_info"]["finish_reason"]["type"] for version in versions]
    return sample
