"""Turns come from an asynchronous generator."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def turns(url, ids, params, limit):
    history = list(ids)
    for number in range(limit):
        reply = await post(url, {"input_ids": history, "sampling_params": params, "return_logprob": True})
        yield number, reply
        history += [p[1] for p in reply["meta_info"]["output_token_logprobs"]]
        if reply["meta_info"]["finish_reason"]["type"] == "length":
            return


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    sample.tokens = list(ids)
    async for number, reply in turns(url, ids, sampling_params, 3):
        meta = reply["meta_info"]
        sample.append_response_tokens(
            args,
            tokens=[p[1] for p in meta["output_token_logprobs"]],
            log_probs=[p[0] for p in meta["output_token_logprobs"]],
            meta_info=meta,
            text=reply["text"],
        )
        sample.metadata["last_turn"] = number
    return sample
