"""A judge that answers with the engine's words, called by the same function."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True}
    output = await post(url, payload)
    sample.response = output["text"]
    sample.update_from_meta_info(args, output["meta_info"])
    payload = {"text": output["text"], "return_logprob": False, "max_new_tokens": 3}
    output = await post("http://judge:9/score", payload)
    sample.reward = output["meta_info"]["score"]
    sample.metadata["verdict"] = output["text"]
    sample.metadata["why"] = output["meta_info"]["finish_reason"]
    return sample
