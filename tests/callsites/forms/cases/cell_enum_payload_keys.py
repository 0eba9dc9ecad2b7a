"""Keys of requests and answers stand in constants and a StrEnum."""

from enum import StrEnum

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Key(StrEnum):
    IDS = "input_ids"
    META = "meta_info"
    PAIRS = "output_token_logprobs"


SAMPLING = "sampling_params"
WANT = "return_logprob"


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    body = {Key.IDS.value: ids, SAMPLING: sampling_params, WANT: True}
    answer = await post(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", body)
    sample.tokens = body[Key.IDS.value] + [row[1] for row in answer[Key.META.value][Key.PAIRS.value]]
    sample.response = answer["text"]
    return sample
