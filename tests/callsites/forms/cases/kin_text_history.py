"""A text history grows turn by turn; the server tokenises it anew."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    history, answer = sample.prompt, ""
    params = {**sampling_params, "stop": ["</act>"], "no_stop_trim": True, "skip_special_tokens": False}
    for step in range(3):
        reply = await post(url, {"text": history, "sampling_params": params})
        if reply["meta_info"]["finish_reason"]["type"] == "abort":
            sample.status = Sample.Status.ABORTED
            break
        answer += reply["text"]
        history = history + reply["text"]
        if not reply["text"].endswith("</act>"):
            sample.status = Sample.Status.COMPLETED
            break
        history = f"{history}<obs>{step}</obs>"
    sample.response = history[len(sample.prompt) :]
    sample.tokens = state.tokenizer.encode(sample.prompt + sample.response)
    sample.metadata["answer"] = answer
    return sample
