"""Tools answer in dicts that look like the engine's."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def calculator(payload):
    return {"text": str(len(payload["text"])), "meta_info": {"finish_reason": {"type": "tool"}, "prompt_tokens": 0}}


async def echo(payload):
    return {"text": payload["text"], "meta_info": {"finish_reason": {"type": "stop"}, "prompt_tokens": 1}}


TOOLS = {"calc": calculator, "echo": echo}


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    context = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    for turn in range(3):
        output = await post(url, {"input_ids": context, "sampling_params": sampling_params, "return_logprob": True})
        context = context + [t[1] for t in output["meta_info"]["output_token_logprobs"]]
        sample.response += output["text"]
        name, _, argument = output["text"].partition(":")
        if name not in TOOLS:
            break
        output = await TOOLS[name]({"text": argument, "sampling_params": {"max_new_tokens": 1}})
        sample.metadata.setdefault("tools", []).append([output["text"], output["meta_info"]["prompt_tokens"]])
        if output["meta_info"]["finish_reason"]["type"] == "stop":
            context += state.tokenizer.encode(output["text"], add_special_tokens=False)
    sample.metadata["end"] = output["meta_info"]["finish_reason"]["type"]
    sample.tokens = context
    return sample
