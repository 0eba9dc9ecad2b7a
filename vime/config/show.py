"""A resolved configuration for people and for machines: each value with where it comes from."""

import json
from collections.abc import Iterator
from typing import Any

from vime.config.option import Option
from vime.config.resolve import Config
from vime.config.secrets import masked

_FILE_UNFRIENDLY = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}
"""Characters that JSON allows and YAML does not, so that what is printed can be read back as a file."""


def as_json(config: Config) -> str:
    """One object; its `config` is itself a file that `--config` takes."""
    shown = {
        "schema": 1,
        "config": {option.name: masked(option, getattr(config.args, option.name)) for option in config.options},
        "origins": {option.name: config.origins.get(option.name, "default") for option in config.options},
        "megatron": dict(sorted(config.megatron.items())),
        "engine": dict(sorted(_engine(config).items())),
        "device": {
            "kind": config.device.kind,
            "count": config.device.count,
            "why": config.device.why,
            "backend": config.device.backend,
            "trainer_env": config.device.trainer_env(),
            "engine_env": config.device.engine_env(),
        },
        "warnings": [str(warning) for warning in config.warnings],
    }
    return json.dumps(shown, indent=2, ensure_ascii=False, default=str).translate(_FILE_UNFRIENDLY) + "\n"


def as_text(config: Config) -> str:
    """A line an option, by group: name, value, where from."""
    return "\n".join(_lines(config)) + "\n"


def _lines(config: Config) -> Iterator[str]:
    device = config.device
    yield f"# device: {device.kind} ({device.why}), {device.backend}"
    group = None
    for option in sorted(config.options, key=_place):
        if option.group != group:
            group = option.group
            yield f"\n{group}"
        yield _line(
            option.name, masked(option, getattr(config.args, option.name)), config.origins.get(option.name, "default")
        )
    for title, prefix, values in (
        ("megatron: what Megatron-core gets", "", config.megatron),
        ("vllm: what the engine gets", "vllm_", _engine(config)),
    ):
        yield f"\n{title}"
        for name, value in sorted(values.items()):
            yield _line(name, value, config.origins.get(prefix + name, ""))


def _place(option: Option) -> int:
    """The framework's own first, in their order."""
    return ("megatron", "vllm").index(option.group) + 1 if option.group in ("megatron", "vllm") else 0


def _line(name: str, value: Any, origin: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return f"  {name:<42} {shown:<30} {origin}".rstrip()


def _engine(config: Config) -> dict[str, Any]:
    rows: dict[str, Option] = {option.name: option for option in config.options}
    return {
        name: masked(rows[key], value) if (key := "vllm_" + name) in rows else value
        for name, value in config.engine.items()
    }
