"""The facts about both engines that the checks need: counterparts from `tables/vllm.toml`, the engine's own from its snapshot."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from sync_tools.seam.snapshot import carried


@dataclass(frozen=True)
class Engine:
    """`old_*` map SGLang's spelling to vLLM's, or to nothing where there is no counterpart."""

    request_fields: frozenset[str]
    sampling_fields: frozenset[str]
    old_request: Mapping[str, str]
    old_sampling: Mapping[str, str]
    token_routes: frozenset[str]
    old_routes: Mapping[str, str]
    absent_modules: tuple[str, ...]
    kept_modules: tuple[str, ...]
    flags: frozenset[str]
    old_flags: Mapping[str, str]
    attribution: re.Pattern[str]


@cache
def load() -> Engine:
    raw = tomllib.loads(files("sync_tools.verify").joinpath("tables", "vllm.toml").read_text("utf-8"))
    request, flags, residue, snapshot = raw["request"], raw["flags"], raw["residue"], carried()
    return Engine(
        request_fields=snapshot.of("request"),
        sampling_fields=snapshot.of("sampling"),
        old_request=request["old"],
        old_sampling=raw["sampling"]["old"],
        token_routes=frozenset(raw["routes"]["token_routes"]),
        old_routes=raw["routes"]["old"],
        absent_modules=tuple(raw["imports"]["absent"]),
        kept_modules=tuple(raw["imports"]["kept"]),
        flags=snapshot.of("flag") | frozenset(flags["owned"]),
        old_flags=flags["old"],
        attribution=re.compile(residue["attribution"]),
    )
