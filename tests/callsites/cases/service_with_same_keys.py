"""Another service takes and gives the same keys; only the engine's call is the engine's."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

JUDGE = "http://judge:9/score"


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    ids = state.tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    sample.response = output["text"]
    verdict = await post(
        JUDGE, {"input_ids": ids, "text": output["text"], "sampling_params": {"max_new_tokens": 1}, "return_logprob": False}
    )
    sample.reward = verdict["meta_info"]["score"]
    sample.metadata["verdict"] = [verdict["text"], verdict["meta_info"]["finish_reason"]]
    sample.metadata["kind"] = output["meta_info"]["finish_reason"]["type"]
    return sample
