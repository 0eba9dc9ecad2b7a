"""The same names for a search service and for the engine, in a loop and in branches."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    text = sample.prompt
    for turn in range(2):
        payload = {"input_ids": state.tokenizer.encode(text), "sampling_params": sampling_params, "return_logprob": True}
        output = await post(f"{base}/generate", payload)
        text += output["text"]
        if turn == 0:
            payload = {"text": text, "return_logprob": False}
            output = await lookup(payload)
            text += output["text"]
        else:
            sample.metadata["seen"] = payload["input_ids"]
    sample.response = text
    sample.metadata["last"] = output["text"]
    return sample


async def lookup(payload):
    return {"text": "<" + str(payload["return_logprob"]) + payload["text"] + ">"}
