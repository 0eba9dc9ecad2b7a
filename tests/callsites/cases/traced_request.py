"""The request stands in a span that is told about the answer's meta_info."""

from slime.observability.trace_utils import build_sglang_meta_trace_attrs, trace_function, trace_span
from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


@trace_function("my_generate", target="sample")
async def generate(args, sample, sampling_params):
    ids = GenerateState(args).tokenizer.encode(sample.prompt)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    payload = {"input_ids": ids, "sampling_params": sampling_params, "return_logprob": True}
    with trace_span(sample, "sglang_generate", attrs={"max_new_tokens": sampling_params["max_new_tokens"]}) as span:
        output = await post(url, payload)
        span.update(build_sglang_meta_trace_attrs(output["meta_info"]))
    sample.response = output["text"]
    sample.update_from_meta_info(args, output["meta_info"])
    return sample
