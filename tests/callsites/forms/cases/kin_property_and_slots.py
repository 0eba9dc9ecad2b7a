"""A session that keeps what came back and gives it by properties."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


class Session:
    def __init__(self, url, ids):
        self.url, self.ids, self.last, self.logps = url, list(ids), None, []

    @property
    def meta(self):
        return self.last["meta_info"]

    @property
    def finished(self):
        return self.meta["finish_reason"]["type"] != "stop" or not self.last["text"].endswith("?")

    def feed(self, ids):
        self.ids.extend(ids)
        self.logps.extend([0.0] * len(ids))

    async def step(self, params, **kwargs):
        self.last = await post(self.url, {"input_ids": self.ids, "sampling_params": params, "return_logprob": True}, **kwargs)
        for logp, token, *_ in self.meta["output_token_logprobs"]:
            self.ids.append(token)
            self.logps.append(logp)
        return self


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    session = Session(f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate", state.tokenizer.encode(sample.prompt, add_special_tokens=False))
    headers = {"X-SMG-Routing-Key": sample.session_id} if sample.session_id else None
    for _ in range(4):
        await session.step(sampling_params, headers=headers)
        if session.finished:
            break
        session.feed([35])
    sample.tokens, sample.rollout_log_probs = session.ids, session.logps
    sample.metadata["reason"] = session.meta["finish_reason"]["type"]
    return sample
