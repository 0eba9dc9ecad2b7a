"""Paths come from a table, an enum, a conditional; bases from a cycle, a list, a dataclass."""

import itertools
from dataclasses import dataclass
from enum import Enum

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

ENDPOINTS = {"generate": "/generate", "health": "/health"}


class Route(str, Enum):
    GENERATE = "/generate"


@dataclass
class Target:
    host: str
    path: str = "/generate"

    @property
    def url(self):
        return "http://" + self.host + self.path


async def generate(args, sample, sampling_params):
    body = {"input_ids": GenerateState(args).tokenizer.encode(sample.prompt), "sampling_params": sampling_params}
    base = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"
    bases = itertools.cycle([base + "/", base])
    outputs = [
        await post(base + ENDPOINTS["generate"], body),
        await post(f"{base}{Route.GENERATE.value}", body),
        await post(next(bases).rstrip("/") + "/generate", body),
        await post(Target(f"{args.sglang_router_ip}:1").url, body),
        await post(base + ("/generate" if sample.index == 0 else "/health"), body),
        await post("{}{}".format(base, "/generate"), body),
        await post("http://%s:%d%s" % (args.sglang_router_ip, args.sglang_router_port, ENDPOINTS["generate"]), body),
    ]
    sample.metadata["texts"] = [output["text"] for output in outputs]
    return sample
