"""The URL, the state and the last answer live on an object."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample


class Conversation:
    def __init__(self, args, sampling_params):
        self.args = args
        self.state = GenerateState(args)
        self.url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
        self.sampling_params = dict(sampling_params)
        self.last = None

    async def say(self, ids):
        payload = {"input_ids": ids, "sampling_params": self.sampling_params, "return_logprob": True}
        self.last = await post(self.url, payload)
        return self

    @property
    def finished(self):
        return self.last["meta_info"]["finish_reason"]["type"] != "length"

    def tokens(self):
        return [pair[1] for pair in self.last["meta_info"]["output_token_logprobs"]]


async def generate(args, sample: Sample, sampling_params) -> Sample:
    talk = Conversation(args, sampling_params)
    ids = talk.state.tokenizer.encode(sample.prompt)
    await talk.say(ids)
    sample.tokens = ids + talk.tokens()
    sample.response = talk.last["text"]
    sample.metadata["finished"] = talk.finished
    sample.metadata["cached"] = talk.last["meta_info"]["cached_tokens"]
    return sample
