"""The names that a translation would like to use are taken."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post

to_vllm = "a name"
read_answer = {"seam": 1}


def generate_request(answers):
    return {"answers": answers, "stream": None}


async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    request = generate_request(3)
    output = await post(url, {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True})
    seam, answer, stream = read_answer["seam"], output["text"], request["stream"]
    sample.response = answer
    sample.metadata["names"] = [to_vllm, seam, request["answers"], stream]
    sample.tokens = ids + [p[1] for p in output["meta_info"]["output_token_logprobs"]]
    return sample
