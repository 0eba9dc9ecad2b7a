"""The same dict is a request to the engine and a row of a data set."""

import json

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


def columns(rows):
    return {key: [row[key] for row in rows] for key in rows[0]}


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    row = {"input_ids": ids, "sampling_params": sampling_params}
    output = await post(url, row)
    rows = [row, {"input_ids": output["output_ids"], "sampling_params": None}]
    sample.metadata["columns"] = columns(rows)
    sample.metadata["saved"] = json.loads(json.dumps(row))
    sample.metadata["both"] = [entry["input_ids"] for entry in rows]
    return sample
