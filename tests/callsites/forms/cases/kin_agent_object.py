"""An agent with args of its own asks in text; a planner's answer is parsed as JSON."""

import json

from slime.utils.http_utils import post
from slime.utils.types import Sample


class Planner:
    def __init__(self, args):
        self.args = args
        self.router = f"http://{args.sglang_router_ip}:{args.sglang_router_port}"

    async def plan(self, task, params):
        output = await post(self.router + "/generate", {"text": f"Plan: {task}\n", "sampling_params": params})
        if output["meta_info"]["finish_reason"]["type"] == "abort":
            return None
        return json.loads(output["text"])


async def generate(args, sample: Sample, sampling_params):
    plan = await Planner(args).plan(sample.prompt, dict(sampling_params, temperature=0.0, max_new_tokens=32))
    if plan is None:
        sample.status = Sample.Status.ABORTED
        return sample
    sample.metadata["plan"] = plan["steps"]
    sample.response = plan.get("text", "")
    return sample
