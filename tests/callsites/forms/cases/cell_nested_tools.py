"""A tool loop with nested functions and nonlocal state."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    tokenizer = GenerateState(args).tokenizer
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    prompt = tokenizer.encode(sample.prompt)
    history, mask, probs = list(prompt), [], []

    async def act():
        nonlocal history
        answer = await post(url, {"input_ids": history, "sampling_params": sampling_params, "return_logprob": True})
        fresh = answer["meta_info"]["output_token_logprobs"]
        history = history + [tok for _, tok, _ in fresh]
        mask.extend([1] * len(fresh))
        probs.extend(lp for lp, _, _ in fresh)
        return answer["text"], answer["meta_info"]["finish_reason"]["type"]

    def observe(text):
        nonlocal history
        seen = tokenizer.encode(f"[{len(text)}]", add_special_tokens=False)
        history = history + seen
        mask.extend([0] * len(seen))
        probs.extend([0.0] * len(seen))

    for _ in range(2):
        said, why = await act()
        if why != "stop":
            break
        observe(said)
    sample.tokens, sample.loss_mask, sample.rollout_log_probs = history, mask, probs
    sample.response = tokenizer.decode(history[len(prompt):])
    sample.metadata["why"] = why
    return sample
