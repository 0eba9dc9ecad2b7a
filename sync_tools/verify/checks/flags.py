"""Every flag with the engine's prefix that a touched file gives is one that vLLM 0.32's server or the launcher has."""

import re
from collections.abc import Iterator

from sync_tools.verify import engine
from sync_tools.verify.model import Context, Finding


def flags(context: Context) -> Iterator[Finding]:
    prefix = next((r.new for r in context.config.names if r.old == "sglang"), None)
    if context.config.engine != "sglang-to-vllm" or prefix is None:
        return
    flag = re.compile(rf"(?<![\w-])--{re.escape(prefix)}-([a-z0-9][a-z0-9-]*[a-z0-9])(?![\w-])")
    for source in context.files():
        reported = context.reported.get(source.path, frozenset())
        for number, line in enumerate(source.lines, 1) if f"--{prefix}-" in source.text else ():
            for name in dict.fromkeys(flag.findall(line)):
                if number not in reported and (found := _judge(context, prefix, name)) is not None:
                    message, fix = found
                    yield Finding(source.path, number, "flags.unknown", message, fix)


def _judge(context: Context, prefix: str, name: str) -> tuple[str, str] | None:
    facts = engine.load()
    if name.removeprefix("no-") in facts.flags or context.code.defines_option(f"--{prefix}-{name}"):
        return None
    if name in facts.old_flags:
        instead = facts.old_flags[name]
        fix = f"give --{prefix}-{instead}" if instead else "it has no counterpart: leave it out"
        return f"`--{prefix}-{name}` is SGLang's flag under vLLM's prefix", fix
    return f"vLLM 0.32 has no flag `--{name}`", "look it up in `vllm serve --help=all`"
