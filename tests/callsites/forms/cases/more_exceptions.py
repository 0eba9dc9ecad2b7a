"""Errors of the module's own around the answer; a finally that reads it."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Aborted(Exception):
    def __init__(self, answer):
        super().__init__(answer["meta_info"]["finish_reason"]["type"])
        self.answer = answer


async def checked(url, payload):
    answer = await post(url, payload)
    if answer["meta_info"]["finish_reason"]["type"] == "abort":
        raise Aborted(answer)
    return answer


async def generate(args, sample, sampling_params):
    answer = None
    try:
        answer = await checked(
            f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate",
            {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params, "return_logprob": True},
        )
        sample.status = sample.Status.COMPLETED
    except Aborted as error:
        sample.metadata["error"] = str(error)
        answer = error.answer
        sample.status = sample.Status.ABORTED
    finally:
        sample.metadata["tokens"] = [row[1] for row in answer["meta_info"]["output_token_logprobs"]] if answer else None
    sample.response = answer["text"]
    return sample
