"""A function called post, a dict called meta_info, a class with output_token_logprobs: none is the engine's."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils import http_utils


class Journal:
    output_token_logprobs = ()

    def post(self, url, payload):
        return {"meta_info": payload, "text": url}


async def generate(args, sample, sampling_params):
    journal = Journal()
    entry = journal.post("/notes", {"input_ids": [1], "text": "note", "return_logprob": 1})
    sample.metadata["entry"] = entry
    meta_info = {"finish_reason": {"type": "note"}, "output_token_logprobs": [[0, 1, 2]]}
    sample.metadata["note"] = [meta_info["finish_reason"]["type"], [p[1] for p in meta_info["output_token_logprobs"]]]
    batch = {"input_ids": [[1, 2]], "sampling_params": {"max_new_tokens": 1}}
    sample.metadata["batch"] = batch["input_ids"][0][-1] + batch["sampling_params"]["max_new_tokens"]
    out = await http_utils.post(
        f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
        {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params},
    )
    sample.response = out["text"]
    return sample
