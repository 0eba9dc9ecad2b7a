"""Pairs are enumerated, zipped, sorted, chained."""

import itertools
import operator

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    pairs = output["meta_info"]["output_token_logprobs"]
    sample.metadata["order"] = [i for i, _ in sorted(enumerate(pairs), key=lambda e: e[1][0])]
    sample.metadata["flat"] = list(itertools.chain.from_iterable(p[:2] for p in pairs))
    sample.metadata["worst"] = min(pairs, key=operator.itemgetter(0))[1]
    for mask, (logp, token, _text) in zip([1] * len(pairs), pairs, strict=True):
        sample.metadata.setdefault("zipped", []).append([mask, token, logp])
    sample.metadata["tail"] = [p[1] for p in pairs[-2:]]
    sample.metadata["last"] = pairs[-1][0]
    sample.metadata["pairwise"] = [b[1] - a[1] for a, b in itertools.pairwise(pairs)]
    return sample
