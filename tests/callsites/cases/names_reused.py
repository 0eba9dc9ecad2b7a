"""The same names hold the service's request and answer first, the engine's after it, and the service's again."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = "http://search:8/retrieve"
    payload = {"text": sample.prompt, "topk": 2}
    output = await post(url, payload)
    meta = output["meta_info"]
    context, sample.metadata["total"] = output["text"], meta["total"]
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": state.tokenizer.encode(context), "sampling_params": sampling_params, "return_logprob": True}
    output = await post(url, payload)
    meta = output["meta_info"]
    sample.response = output["text"]
    sample.metadata["pairs"] = len(meta["output_token_logprobs"])
    url = "http://search:8/retrieve"
    payload = {"text": output["text"], "topk": 1}
    output = await post(url, payload)
    sample.metadata["again"] = [output["text"], output["meta_info"]["total"]]
    return sample
