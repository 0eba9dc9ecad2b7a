"""The pairs become arrays."""

import numpy as np

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    rows = np.array([[p[0], p[1]] for p in output["meta_info"]["output_token_logprobs"]], dtype=np.float64)
    sample.rollout_log_probs = rows[:, 0].tolist()
    sample.tokens = ids + rows[:, 1].astype(int).tolist()
    sample.response = output["text"]
    sample.metadata["mean"] = round(float(rows[:, 0].mean()), 6)
    table = np.array(output["meta_info"]["output_token_logprobs"], dtype=object)
    sample.metadata["shape"] = list(table.shape)
    return sample
