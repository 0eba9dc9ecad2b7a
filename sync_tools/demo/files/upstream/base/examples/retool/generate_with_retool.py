# Adapted from https://github.com/volcengine/verl, recipe/retool
import json
import re

from tool_sandbox import SEMAPHORE, TOOL_CONFIGS, TOOL_SPECS, run_code

from slime.rollout.rm_hub.math_dapo_utils import compute_score
from slime.rollout.sglang_rollout import GenerateState
from slime.utils.http_utils import post
from slime.utils.types import Sample

SYSTEM = (
    "Solve the problem. To have Python run for you, write <tool_call>"
    '{"name": "code_interpreter", "arguments": {"code": "..."}}</tool_call>; '
    "what it prints comes back between <interpreter> tags. Put the answer into \\boxed{}."
)
TOOL_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)


def format_prompt(question: str) -> str:
    tools = "\n".join(json.dumps(spec) for spec in TOOL_SPECS)
    system = f"{SYSTEM}\n<tools>\n{tools}\n</tools>"
    turns = [("system", system), ("user", question)]
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"


def find_code(text: str) -> str | None:
    """The code of the last tool call in the text, or None when there is none that can be read."""
    calls = TOOL_CALL.findall(text)
    if not calls:
        return None
    try:
        return json.loads(calls[-1])["arguments"]["code"]
    except (json.JSONDecodeError, KeyError, TypeError):
        return None


async def next_observation(text: str) -> tuple[str, bool]:
    """What the model reads next, and whether it is done."""
    if "\\boxed{" in text:
        return "", True
    code = find_code(text)
    if code is None:
        return "\nNeither a tool call nor an answer in \\boxed{}. Go on.\n", False
    async with SEMAPHORE:
        result = await run_code(code)
    return f"\n<interpreter>\n{result}\n</interpreter>\n", False


async def generate(args, sample: Sample, sampling_params) -> Sample:
    """Turns of the model with what the tool prints in between."""
    assert not args.partial_rollout, "a conversation that was cut cannot be taken up again"
    state = GenerateState(args)
    url = f"http://{args.sglang_router_ip}:{args.sglang_router_port}/generate"

    prompt_ids = state.tokenizer(format_prompt(sample.prompt), add_special_tokens=False)["input_ids"]
    response = ""
    response_ids = []
    loss_mask = []
    tool_calls = 0

    for _ in range(TOOL_CONFIGS["max_turns"]):
        limit = args.rollout_max_context_len or args.context_parallel_size * args.max_tokens_per_gpu
        if len(prompt_ids) + len(response_ids) >= limit:
            sample.status = Sample.Status.TRUNCATED
            break

        payload = {
            "input_ids": prompt_ids + response_ids,
            "sampling_params": sampling_params,
            "return_logprob": True,
        }
        output = await post(url, payload)

        if output["meta_info"]["finish_reason"]["type"] == "abort":
            sample.status = Sample.Status.ABORTED
            return sample

        if "output_token_logprobs" in output["meta_info"]:
            turn_ids = [item[1] for item in output["meta_info"]["output_token_logprobs"]]
            turn_text = state.tokenizer.decode(turn_ids)
            if sample.rollout_log_probs is None:
                sample.rollout_log_probs = []
            sample.rollout_log_probs += [item[0] for item in output["meta_info"]["output_token_logprobs"]]
        else:
            turn_text = output["text"]
            turn_ids = state.tokenizer(turn_text, add_special_tokens=False)["input_ids"]

        response += turn_text
        response_ids += turn_ids
        loss_mask += [1] * len(turn_ids)
        if output["meta_info"]["finish_reason"]["type"] == "length":
            break

        observation, done = await next_observation(turn_text)
        if done:
            break
        tool_calls += "<interpreter>" in observation
        observation_ids = state.tokenizer(observation, add_special_tokens=False)["input_ids"]
        response += observation
        response_ids += observation_ids
        loss_mask += [0] * len(observation_ids)
        if sample.rollout_log_probs is not None:
            sample.rollout_log_probs += [0.0] * len(observation_ids)
        if tool_calls >= TOOL_CONFIGS["max_tool_calls"]:
            break

    sample.tokens = prompt_ids + response_ids
    sample.response = response
    sample.response_length = len(response_ids)
    sample.loss_mask = loss_mask
    sample.metadata["tool_calls"] = tool_calls
    match output["meta_info"]["finish_reason"]["type"]:
        case "stop":
            sample.status = Sample.Status.COMPLETED
        case "length":
            sample.status = Sample.Status.TRUNCATED
    return sample


async def reward_func(args, sample, **kwargs):
    """The answer's score; a wrong answer that used the tool is a little less wrong."""
    result = compute_score(sample.response, sample.label or "")
    if result["score"] < 0:
        result["score"] += min(0.1 * sample.metadata.get("tool_calls", 0), 0.4)
    return result
