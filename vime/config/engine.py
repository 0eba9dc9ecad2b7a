"""The engine's options as words of its command line."""

import json
from collections.abc import Iterator
from typing import Any

from vime.config.option import Option
from vime.config.resolve import Config


def engine_words(config: Config) -> list[str]:
    """What `vllm serve` is to be given: `--max-num-seqs=8 --no-enable-prefix-caching ...`, in a fixed order."""
    rows = {option.name: option for option in config.options}
    return [
        word for name, value in sorted(config.engine.items()) for word in _words(name, value, rows.get(f"vllm_{name}"))
    ]


def _words(name: str, value: Any, row: Option | None) -> Iterator[str]:
    flag = "--" + name.replace("_", "-")
    if value is None:
        return
    if isinstance(value, bool):
        if value:
            yield flag
        elif row is None:  # given by the framework, with vLLM's options not looked at: each of those has its opposite
            yield f"--no-{name.replace('_', '-')}"
        elif row.off_flags:
            yield "--" + row.off_flags[0].removeprefix("--vllm-")
    elif isinstance(value, tuple):
        yield from (flag, *map(str, value)) if not (row and row.append) else (f"{flag}={one}" for one in value)
    else:
        yield f"{flag}={value if isinstance(value, str) else json.dumps(value)}"
