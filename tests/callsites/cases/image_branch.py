"""With images the prompt is sent as text and the images with it; without, as tokens."""

from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.processing_utils import encode_image_for_rollout_engine
from slime.utils.types import Sample


async def generate(args, sample: Sample, sampling_params):
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"
    ids = state.tokenizer.encode(sample.prompt, add_special_tokens=False)
    request = {"sampling_params": sampling_params, "return_logprob": True}
    pictures = (sample.multimodal_inputs or {}).get("images")
    if pictures:
        request["image_data"] = [encode_image_for_rollout_engine(picture) for picture in pictures]
        request["text"] = sample.prompt
    else:
        request["input_ids"] = ids
    output = await post(url, request)
    sample.tokens = ids
    sample.append_response_tokens(
        args,
        tokens=[pair[1] for pair in output["meta_info"]["output_token_logprobs"]],
        log_probs=[pair[0] for pair in output["meta_info"]["output_token_logprobs"]],
        meta_info=output["meta_info"],
        text=output["text"],
    )
    return sample
