"""The parameters are the state's own; they keep their names for whoever reads them next."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post


async def generate(args, sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    state.sampling_params.update(sampling_params, min_new_tokens=1, no_stop_trim=True)
    own = state.sampling_params.copy()
    own["max_new_tokens"] = min(own.get("max_new_tokens", 32), 9)
    out = await post(url, {"input_ids": state.tokenizer.encode(sample.prompt), "sampling_params": own})
    sample.response = out["text"]
    sample.metadata["shared"] = sorted(state.sampling_params)
    sample.metadata["limits"] = [state.sampling_params["max_new_tokens"], own["max_new_tokens"]]
    sample.metadata["given"] = sorted(sampling_params)
    return sample
