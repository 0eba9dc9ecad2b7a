"""Search-R1 style: generation, a search service, the passages, generation again."""

import re

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample

CONFIGS = {"max_turns": 2, "topk": 2, "search_url": "http://search:9/retrieve", "return_logprob": True}


async def search(query):
    payload = {"queries": [query], "topk": CONFIGS["topk"], "return_scores": True}
    output = await post(CONFIGS["search_url"], payload)
    return "".join(f"[{i}] {doc['text']}" for i, doc in enumerate(output["result"]))


async def execute(prediction):
    found = re.search(r"<search>(.*?)</search>", prediction)
    return (await search(found[1]), False) if found else ("", True)


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    prompt_ids = state.tokenizer(sample.prompt, add_special_tokens=False)["input_ids"]
    response, response_ids, mask, logps = "", [], [], [] if CONFIGS["return_logprob"] else None
    output = None
    for _ in range(CONFIGS["max_turns"]):
        payload = {"input_ids": prompt_ids + response_ids, "sampling_params": sampling_params}
        if CONFIGS["return_logprob"]:
            payload["return_logprob"] = True
        output = await post(url, payload)
        if output["meta_info"]["finish_reason"]["type"] == "abort":
            sample.status = Sample.Status.ABORTED
            return sample
        cur = output["text"]
        cur_ids = [t[1] for t in output["meta_info"]["output_token_logprobs"]]
        logps += [t[0] for t in output["meta_info"]["output_token_logprobs"]]
        response += cur
        response_ids += cur_ids
        mask += [1] * len(cur_ids)
        if output["meta_info"]["finish_reason"]["type"] == "length":
            break
        obs, done = await execute(cur)
        if done:
            break
        obs_ids = state.tokenizer(obs, add_special_tokens=False)["input_ids"]
        response += obs
        response_ids += obs_ids
        mask += [0] * len(obs_ids)
        logps += [0.0] * len(obs_ids)
    sample.tokens, sample.response, sample.loss_mask = prompt_ids + response_ids, response, mask
    sample.response_length, sample.rollout_log_probs = len(response_ids), logps
    match output["meta_info"]["finish_reason"]["type"]:
        case "length":
            sample.status = Sample.Status.TRUNCATED
        case "stop":
            sample.status = Sample.Status.COMPLETED
    return sample
