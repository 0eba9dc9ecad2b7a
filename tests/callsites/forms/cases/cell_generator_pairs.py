"""Generators over the pairs; sums; any and all."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def triples(answer):
    yield from answer["meta_info"]["output_token_logprobs"]


def tokens(answer):
    for _, token, *_ in triples(answer):
        yield token


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    out = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    sample.tokens = [*ids, *tokens(out)]
    sample.metadata["sum"] = round(sum(lp for lp, _, _ in triples(out)), 5)
    sample.metadata["any"] = any(lp < -0.53 for lp, *_ in triples(out))
    sample.metadata["equal"] = list(tokens(out)) == out["output_ids"]
    sample.metadata["dict"] = {str(i): t for i, (lp, t, _) in enumerate(triples(out)) if lp > -0.52}
    return sample
