"""Text prompts in every spelling: built, conditional, in a helper's argument."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def chat(messages):
    return "".join(f"<{m['role']}>{m['content']}" for m in messages)


async def complete(args, prompt, params):
    payload = {"sampling_params": params}
    if isinstance(prompt, str):
        payload["text"] = prompt
    else:
        payload["input_ids"] = prompt
    return await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", payload)


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    one = await complete(args, chat([{"role": "user", "content": sample.prompt}]), sampling_params)
    two = await complete(args, state.tokenizer.encode(one["text"]), sampling_params)
    sample.response = one["text"] + two["text"]
    sample.metadata["finish"] = two["meta_info"]["finish_reason"]["type"]
    return sample
