"""Answers are kept in records: dataclasses, dicts in a list, tuples."""

from dataclasses import dataclass
from typing import Any

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@dataclass
class Turn:
    number: int
    answer: dict[str, Any]

    @property
    def tokens(self):
        return [p[1] for p in self.answer["meta_info"]["output_token_logprobs"]]


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    turns, history = [], []
    for number in range(2):
        answer = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
        turns.append(Turn(number, answer))
        history.append({"role": "assistant", "raw": answer, "pair": (number, answer["meta_info"])})
        ids = ids + turns[-1].tokens
    sample.tokens = ids
    sample.response = "".join(turn.answer["text"] for turn in turns)
    sample.metadata["history"] = [
        [entry["role"], entry["raw"]["text"], entry["pair"][1]["finish_reason"]["type"]] for entry in history
    ]
    return sample
