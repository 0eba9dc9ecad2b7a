"""Functions, names and rows that look like the engine's and have nothing to do with it."""

from slime.utils.types import Sample


def post(row, payload):
    return {"text": payload["text"] + row, "meta_info": {"finish_reason": {"type": payload["sampling_params"]}}}


def collate(rows):
    return {"input_ids": [row["input_ids"] for row in rows], "text": [row["text"] for row in rows]}


def describe(config):
    return {key: config[key] for key in ("max_new_tokens", "return_logprob") if key in config}


async def generate(args, sample: Sample, sampling_params):
    rows = [{"input_ids": [1, 2], "text": "a", "meta_info": {"source": "x"}}]
    sample.metadata["batch"] = collate(rows)
    sample.metadata["sources"] = [row["meta_info"]["source"] for row in rows]
    output = post("!", {"text": "hi", "sampling_params": "greedy"})
    sample.metadata["local"] = [output["text"], output["meta_info"]["finish_reason"]["type"]]
    sample.metadata["config"] = describe({"max_new_tokens": 3, "return_logprob": True})
    sample.metadata["route"] = "/generate".lstrip("/")
    return sample
