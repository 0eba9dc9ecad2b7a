"""Payloads are attributes, set by name, kept in a history."""

from types import SimpleNamespace

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class History:
    def __init__(self):
        self.requests, self.answers = [], []

    async def send(self, url, **body):
        self.requests.append(body)
        self.answers.append(await post(url, body))
        return self.answers[-1]

    def tokens(self):
        return self.requests[-1]["input_ids"] + [
            token for _, token, _ in self.answers[-1]["meta_info"]["output_token_logprobs"]
        ]


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    history = History()
    await history.send(url, input_ids=ids, sampling_params=sampling_params, return_logprob=True)
    sample.tokens = history.tokens()
    job = SimpleNamespace(url=url, payload={"input_ids": sample.tokens, "sampling_params": sampling_params})
    setattr(job, "answer", await post(job.url, job.payload))
    sample.response = job.answer["text"]
    sample.metadata["sent"] = [len(job.payload["input_ids"]), history.requests[0]["return_logprob"]]
    return sample
