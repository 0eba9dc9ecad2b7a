"""The experts go to the sample with the rest of meta_info."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sample.tokens = state.tokenizer.encode(sample.prompt)
    request = {"input_ids": list(sample.tokens), "sampling_params": sampling_params, "return_logprob": True}
    request["return_routed_experts"] = args.use_rollout_routing_replay
    answer = await post(url, request)
    meta = answer["meta_info"]
    sample.append_response_tokens(
        args,
        tokens=[p[1] for p in meta["output_token_logprobs"]],
        log_probs=[p[0] for p in meta["output_token_logprobs"]],
        meta_info=meta,
        text=answer["text"],
    )
    return sample
