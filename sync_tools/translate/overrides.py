"""Server settings as YAML: the keys below `overrides:` of an engine configuration, by the same rows as the flags."""

import re

from sync_tools.translate.edits import Claims, Edit
from sync_tools.translate.flagtable import Flag, flags
from sync_tools.translate.text.pylex import Lexed

_BLOCK = re.compile(r"(?m)^(?P<indent>[ ]*)overrides:[ \t]*\r?\n(?P<body>(?:(?P=indent)[ ]+[^\n]*(?:\n|$))+)")
_KEY = re.compile(r"(?m)^[ ]*(?P<key>[a-z0-9]+(?:_[a-z0-9]+)*):[ \t]*(?P<value>[^\s#]+)[^\n]*(?:\n|$)")
_ENGINE = re.compile(r"(?m)^[ ]*sglang:[ \t]*\r?$")


def translate_overrides(claims: Claims, lexed: Lexed | None) -> None:
    """Claim the settings of every `overrides:` block that follows the engine's top key."""
    text = claims.text
    if "overrides:" not in text or not (top := _ENGINE.search(text)):
        return
    for block in _BLOCK.finditer(text, top.end()):
        if lexed is not None and not ((region := lexed.at(block.start())) and region.long):
            continue
        for setting in _KEY.finditer(text, block.start("body"), block.end("body")):
            flag = flags().get(setting["key"].replace("_", "-"))
            if flag is not None:
                _setting(claims, setting, flag)


def _setting(claims: Claims, setting: re.Match[str], flag: Flag) -> None:
    key, value = setting["key"], setting["value"]
    new: tuple[str, str] | None = (flag.new.replace("-", "_"), value)
    match flag.action:
        case "own":
            return
        case "site" | "json":
            claims.site(
                setting.start("key"),
                setting.end("value"),
                f"{key}: {value}",
                flag.why or "a setting inside a JSON option of vLLM",
            )
            return
        case "drop":
            new = None
        case "switch":
            new = None if value in flag.values else (flag.new.replace("-", "_"), "true")
        case "map":
            mapped = flag.values.get(value, value)
            new = (flag.new.replace("-", "_"), mapped) if mapped else None
        case "fixed" if flag.new.startswith("no-"):
            new = (flag.new.removeprefix("no-").replace("-", "_"), {"true": "false", "false": "true"}.get(value, value))
        case "fold":
            new = _folded(claims, setting, key, value, flag)
    if new is None:
        claims.edit(
            Edit(
                setting.start(),
                setting.end(),
                "",
                flag.code,
                before=f"{key}: {value}",
                after="",
                at=setting.start("key"),
            )
        )
    elif new != (key, value):
        claims.edit(Edit(setting.start("key"), setting.end("value"), f"{new[0]}: {new[1]}", flag.code))


def _folded(claims: Claims, setting: re.Match[str], key: str, value: str, flag: Flag) -> tuple[str, str] | None:
    """The all-to-all backend says DeepEP's mode; other folded settings are reported."""
    if key == "deepep_mode":
        return ("all2all_backend", "deepep_low_latency") if value == "low_latency" else None
    if key == "moe_a2a_backend":
        return ("all2all_backend", "deepep_high_throughput" if value == "deepep" else value)
    claims.site(
        setting.start("key"),
        setting.end("value"),
        f"{key}: {value}",
        f"folded into vLLM's {flag.new.replace('-', '_')}",
    )
    return key, value
