"""The answer is treated as any dict would be."""

import copy
import json
import pickle

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    output = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)
    merged = {**output, "extra": 1}
    again = pickle.loads(pickle.dumps(output))
    plain = json.loads(json.dumps(copy.deepcopy(output)))
    sample.metadata["texts"] = [merged["text"], again["text"], plain["text"], dict(output.items())["text"]]
    sample.metadata["is_dict"] = isinstance(output, dict) and isinstance(output["meta_info"], dict)
    output["meta_info"]["finish_reason"] = {"type": "length"}
    sample.update_from_meta_info(args, output["meta_info"])
    sample.metadata["popped"] = output.pop("text")
    sample.metadata["gone"] = output.get("text", "none")
    return sample
