"""The prompt that tells a model of its tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tool_settings import Settings

__all__ = ["format_conversation_with_tools", "prompt_text"]

# Qwen's words for tools, as its models were trained on them. What the data brings is put in as a value, and is never a
# template itself. Roles and contents stand on one line, as the checkpoints of this recipe know them.
_OFFER = (
    "You may call one or more functions to assist with the user query.",
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>{% for tool in tools %}"
    "{{ tool | tojson }}{% endfor %}\n</tools>",
    "For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:"
    '\n<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
)
_TEMPLATE = (
    "<|im_start|>system{{ system }}{% if tools %}\n# Tools\n\n"
    + "\n\n".join(_OFFER)
    + "{% endif %}\n<|im_end|>\n"
    + "{% for turn in turns %}<|im_start|>{{ turn.role }}{{ turn.content }}<|im_end|>\n{% endfor %}"
    + "<|im_start|>assistant"
)
_RENDER = ImmutableSandboxedEnvironment().from_string(_TEMPLATE).render
_ROLES = ("user", "assistant")


def format_conversation_with_tools(
    prompt: str | None,
    tools: Sequence[dict[str, Any]] | None = None,
    system_prompt: str | None = None,
    messages: Sequence[dict[str, Any]] | None = None,
) -> str:
    """The conversation as text: the system's words with the tools, the prompt, then `messages`; the assistant is next.

    Raises ValueError for messages of other roles than user and assistant, which the template would leave out.
    """
    turns = [{"role": "user", "content": prompt}] if prompt else []
    turns += messages or []
    for turn in turns:
        if turn["role"] not in _ROLES:
            raise ValueError(f"a message of role {turn['role']!r}: a conversation has those of {' and '.join(_ROLES)}")
    return _RENDER(system=system_prompt or Settings.system_prompt, tools=list(tools or ()), turns=turns)


def prompt_text(sample: Any, settings: Settings, tools: Sequence[dict[str, Any]], tokenizer: Any) -> str:
    """The text that `sample` begins with, in the style that the settings name."""
    prompt = sample.prompt
    if settings.prompt == "as_is":
        if not isinstance(prompt, str):
            raise ValueError("retool_prompt as_is takes prompts that are texts; leave --apply-chat-template as it is")
        return prompt
    system, turns = _split(prompt, settings)
    if settings.prompt == "chat_template":
        messages = [{"role": "system", "content": system}] * bool(system) + turns
        return tokenizer.apply_chat_template(
            messages, tools=list(tools), tokenize=False, add_generation_prompt=True, **sample.apply_chat_template_kwargs
        )
    return format_conversation_with_tools(None, tools, system, turns)


def _split(prompt: Any, settings: Settings) -> tuple[str, list[dict[str, Any]]]:
    """(the system's words, the rest)"""
    turns = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else list(prompt)
    if turns and turns[0]["role"] == "system":
        return turns[0]["content"], turns[1:]
    return settings.system_prompt, turns
