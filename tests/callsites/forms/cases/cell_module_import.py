"""Modules under names of the author's own."""

import slime.rollout.sglang_rollout as rollout
import slime.utils.http_utils as http
import slime.utils.types as types


async def generate(args, sample, sampling_params):
    state = rollout.GenerateState(args)
    ids = state.tokenizer.encode(sample.prompt)
    out = await http.post(
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
        {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True},
    )
    sample.status = types.Sample.Status.COMPLETED if out["meta_info"]["finish_reason"]["type"] == "stop" else types.Sample.Status.TRUNCATED
    sample.response = out["text"]
    return sample
