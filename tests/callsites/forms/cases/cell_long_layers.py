"""Four layers between the rollout and the request, each with its own names."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Transport:
    async def roundtrip(self, where, what):
        return await post(where, what)


class Api:
    def __init__(self, transport, host):
        self._transport, self._host = transport, host

    async def completion(self, **request):
        return Completion(await self._transport.roundtrip(f"{self._host}/generate", request))


class Completion:
    def __init__(self, raw):
        self._raw = raw

    def __getitem__(self, key):
        return self._raw[key]

    @property
    def info(self):
        return self["meta_info"]

    @property
    def tokens(self):
        return [token for _, token, _ in self.info["output_token_logprobs"]]

    def __len__(self):
        return len(self.tokens)


async def generate(args, sample, sampling_params):
    api = Api(Transport(), f"http://{args.sglang_router_ip}:{args.sglang_router_port}")
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    completion = await api.completion(input_ids=ids, sampling_params=sampling_params, return_logprob=True)
    sample.tokens = ids + completion.tokens
    sample.response = completion["text"]
    sample.response_length = len(completion)
    return sample
