"""Mathematics with a tool: turns of the model, and of the Python that it wrote and that a sandbox executed.

    --custom-generate-function-path generate_with_retool.generate
    --custom-rm-path generate_with_retool.reward_func --reward-key score

with this folder on PYTHONPATH. After ReTool (arXiv:2504.11536); the settings are in tool_settings.py.
"""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tool_calls import Action, postprocess_predictions, postprocess_responses, read_action
from tool_prompts import format_conversation_with_tools, prompt_text
from tool_sandbox import ToolRegistry, tool_registry
from tool_settings import settings_of
from tool_turns import add_observation, begin, context_limit, response_ids, turn_params, unusable

from vime.backends.vllm_utils.seam import IncompleteAnswer, generate_request, read_answer
from vime.config.problems import Problem
from vime.config.rules.check import Check
from vime.errors import RunError
from vime.observability.trace_utils import build_vllm_meta_trace_attrs, trace_span
from vime.rollout.engine_call import Patience, affinity, ask
from vime.rollout.hooks import with_rules
from vime.rollout.refusals import no_images
from vime.rollout.rm_hub.math_dapo_utils import compute_score
from vime.rollout.vllm_rollout import GenerateState, get_model_url
from vime.utils.aborted import ROLLOUT_STOPPED, abort_sample
from vime.utils.http_utils import post
from vime.utils.types import Sample

__all__ = [
    "execute_predictions",
    "format_conversation_with_tools",
    "generate",
    "postprocess_predictions",
    "postprocess_responses",
    "reward_func",
]

_BEST_WRONG = -0.6
"""A wrong answer's reward, however many tools were called for it."""


def whole_conversations(c: Check) -> Iterator[Problem]:
    """Every conversation begins anew, has a bound, and its tools the settings that they are given."""
    if c.partial_rollout:
        what = "ReTool's generate begins every conversation anew, and a part is worth nothing to it"
        yield c.problem("partial_rollout", what, "leave it out")
    for needed, option in ((context_limit, "rollout_max_context_len"), (settings_of, "custom_config_path")):
        try:
            needed(c.args)
        except RunError as error:
            yield c.problem(option, error.what, error.fix)


def single_samples(c: Check) -> Iterator[Problem]:
    """A conversation is rewarded by itself."""
    if c.group_rm:
        yield c.problem("group_rm", "ReTool's reward_func rewards one sample at a time", "leave it out")


@with_rules(whole_conversations, no_images)
async def generate(
    args: Namespace, sample: Sample, sampling_params: dict[str, Any], evaluation: bool = False
) -> Sample:
    """Generate a conversation with tools, from its beginning, whatever is on the sample.

    `sampling_params["max_new_tokens"]` bounds each turn, the context all of them (see tool_turns.context_limit). Tool
    output is not trained on. COMPLETED where the model answered, or its turns or calls are used up; TRUNCATED where a
    turn or a tool's output ran into a bound; ABORTED, with `metadata["abort_reason"]`, where the engine's answer cannot
    be trained on. `tool_call_count` on the sample is how many tools were called.

    Raises RunError where nothing bounds the context; else as vime.rollout's generate does.
    """
    limit = context_limit(args)
    state, tools = GenerateState(args), tool_registry(args)
    begin(sample, state.encode(prompt_text(sample, tools.settings, tools.get_tool_specs(), state.tokenizer)))
    conversation = _Conversation(args, sample, state, tools, limit, evaluation)
    status, reason = await conversation.run(sampling_params)
    # Of all tokens together, so that characters which two turns share come out whole.
    sample.response = conversation.text(response_ids(sample))
    sample.status = status
    if reason is not None:
        abort_sample(sample, reason)
    return sample


@dataclass(frozen=True)
class _Conversation:
    args: Namespace
    sample: Sample
    state: GenerateState
    tools: ToolRegistry
    limit: int
    evaluation: bool

    async def run(self, sampling_params: dict[str, Any]) -> tuple[Sample.Status, str | None]:
        """How it ended, and why where it was aborted."""
        args, sample, settings = self.args, self.sample, self.tools.settings
        for _ in range(settings.max_turns):
            if self.state.aborted and not self.evaluation:
                return Sample.Status.ABORTED, ROLLOUT_STOPPED
            left = self.limit - len(sample.tokens)
            if left <= 0:
                return Sample.Status.TRUNCATED, None
            answer = await self.ask(turn_params(sample, sampling_params, left))
            reason = "logprobs_mismatch" if answer is None else unusable(answer)
            if reason is not None:
                return Sample.Status.ABORTED, reason
            sample.append_response_tokens(
                args, tokens=answer.token_ids, log_probs=answer.log_probs or (), meta_info=answer["meta_info"]
            )
            sample.status = Sample.Status.PENDING
            if answer.finish_type != "stop":
                return Sample.Status.TRUNCATED, None
            step = await self.act(self.text(answer.token_ids))
            if step.done:
                return Sample.Status.COMPLETED, None
            sample.tool_call_count += step.called
            observed = self.state.tokenizer(step.observation, add_special_tokens=False)["input_ids"]
            if not add_observation(args, sample, observed, self.limit):
                return Sample.Status.TRUNCATED, None
            if sample.tool_call_count >= settings.max_tool_calls:
                break
        return Sample.Status.COMPLETED, None

    async def ask(self, sampling_params: dict[str, Any]) -> Any:
        """The engine's answer to all that there is; None where its logprobs are not one a token."""
        args, sample = self.args, self.sample
        request = generate_request(
            {
                "input_ids": sample.tokens,
                "sampling_params": sampling_params,
                "return_logprob": True,
                "return_routed_experts": getattr(args, "use_rollout_routing_replay", False),
                "image_data": (sample.multimodal_inputs or {}).get("images"),
            }
        )
        url, patience = get_model_url(args, "actor"), Patience.of(args)
        with trace_span(sample, "vllm_generate", attrs={"max_new_tokens": sampling_params["max_new_tokens"]}) as span:
            raw = await ask(post, url, request, headers=affinity(args, sample), patience=patience, sample=sample.index)
            try:
                answer = read_answer(raw, request)
            except IncompleteAnswer:
                return None
            span.update(build_vllm_meta_trace_attrs(answer["meta_info"]))
        return answer

    async def act(self, turn: str) -> Step:
        """Do what the turn asks for."""
        began = time.monotonic()
        with trace_span(self.sample, "tool_call"):
            step = await execute(read_action(turn), self.tools)
        self.sample.non_generation_time += time.monotonic() - began
        return step

    def text(self, ids: list[int]) -> str:
        skip = getattr(self.args, "rollout_skip_special_tokens", False)
        return self.state.tokenizer.decode(ids, skip_special_tokens=skip) if ids else ""


@dataclass(frozen=True)
class Step:
    """What the model sees next, whether it is done, and whether a tool was called."""

    observation: str
    done: bool = False
    called: bool = False


async def execute(action: Action, tools: ToolRegistry) -> Step:
    """Do what was asked for. What cannot be done is told to the model, and never raises."""
    settings = tools.settings
    if action.kind == "answer":
        return Step("", done=True)
    if action.kind == "none":
        return Step(settings.invalid_action)
    if action.kind == "broken":
        return Step(settings.observation.replace("{result}", f"Error: {action.text}"))
    result = await tools.execute_tool(action.tool, action.arguments)
    return Step(settings.observation.replace("{result}", result), called=True)


async def execute_predictions(prediction: str, tools: ToolRegistry | None = None) -> tuple[str, bool]:
    """(what the model sees next, whether it is done) after a turn."""
    step = await execute(read_action(prediction), tools or tool_registry())
    return step.observation, step.done


@with_rules(single_samples)
async def reward_func(args: Namespace, sample: Sample, **kwargs: Any) -> dict[str, Any]:
    r"""score, acc and pred: 1 where the last \boxed{...} of the response is the label, letter by letter; else -1, with
    0.05 for each tool call above two, up to -0.6. Raises TypeError for several samples at once."""
    if not isinstance(sample, Sample):
        raise TypeError(f"a reward of one Sample, not of a {type(sample).__name__}; leave out --group-rm")
    label = "" if sample.label is None else str(sample.label)
    result = compute_score(sample.response, label, strict_box_verify=True)
    if result["score"] < 0:
        encouraged = (getattr(sample, "tool_call_count", 0) - 2) / 2 * 0.1
        result["score"] = min(_BEST_WRONG, result["score"] + encouraged)
    result["pred"] = result["pred"] or ""
    return result
