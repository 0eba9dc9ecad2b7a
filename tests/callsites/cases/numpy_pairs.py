"""The pairs become arrays."""

import numpy as np

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = np.asarray(state.tokenizer.encode(sample.prompt), dtype=np.int64)
    params = {**sampling_params, "temperature": float(np.float32(0.5))}
    out = await post(url, {"input_ids": ids.tolist(), "sampling_params": params, "return_logprob": True})
    table = np.array(out["meta_info"]["output_token_logprobs"], dtype=object)
    tokens = table[:, 1].astype(np.int64)
    logps = np.array([[pair[0], pair[1]] for pair in out["meta_info"]["output_token_logprobs"]])[:, 0]
    sample.tokens = np.concatenate([ids, tokens]).tolist()
    sample.rollout_log_probs = logps.tolist()
    sample.metadata["total"] = round(float(logps.sum()), 5)
    return sample
