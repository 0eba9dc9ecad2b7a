"""The table of flags, as rows: what becomes of one flag."""

from dataclasses import dataclass, field
from functools import cache
from typing import Literal

from sync_tools.translate import rules

Action = Literal["rename", "map", "switch", "fixed", "json", "drop", "fold", "site", "own", "unknown"]


@dataclass(frozen=True)
class Flag:
    """What becomes of `--sglang-NAME`. `takes` is how many values it has: 0, 1 or + (up to the next flag)."""

    name: str
    action: Action
    code: str
    new: str = ""
    takes: Literal["0", "1", "+"] = "1"
    values: dict[str, str] = field(default_factory=dict)
    why: str = ""
    fold: str = ""


@cache
def flags() -> dict[str, Flag]:
    """Every flag that the tables know, by name without prefix."""
    found: dict[str, Flag] = {}
    for rule in rules.table("flags"):
        action = str(rule.data.get("action"))
        for name, new in rule.rows().items():
            match action:
                case "rename" | "own":
                    found[name] = Flag(name, "rename", rule.code, new)
                case "map":
                    found[name] = Flag(name, "map", rule.code, new, values=_values(rule, name))
                case "switch":
                    found[name] = Flag(name, "switch", rule.code, new, values=dict.fromkeys(rule.words("off"), ""))
                case "fixed":
                    found[name] = Flag(name, "fixed", rule.code, new, takes="0")
                case "json":
                    found[name] = Flag(name, "json", rule.code, new, takes="1" if "VALUE" in new else "0")
                case "site":
                    found[name] = Flag(name, "site", rule.code, why=new)
        for name, takes in rule.rows("takes").items():
            found[name] = Flag(name, "drop", rule.code, takes=takes)  # type: ignore[arg-type]
        for name in rule.words("members"):
            found[name] = Flag(name, "fold", rule.code, str(rule.data["into"]), fold=str(rule.data["fold"]))
        if action == "own":
            found |= {name: Flag(name, "own", rule.code) for name in rule.words("words")}
    return found


def _values(rule: rules.Rule, name: str) -> dict[str, str]:
    values = rule.data.get("values", {})
    return dict(values.get(name, {})) if isinstance(values, dict) else {}


def rule_of(action: str) -> rules.Rule:
    """The one rule of the table with this action (command, prose, unknown)."""
    return next(r for r in rules.table("flags") if r.data.get("action") == action)


def speculative(values: dict[str, str]) -> dict[str, object] | str:
    """The JSON of the folded flags (a `${..}` or `{..}` value stays a bare word in it), or why there is none."""
    algorithm = values.get("speculative-algorithm")
    if algorithm is None:
        return "the flag stands without --sglang-speculative-algorithm"
    if values.get("speculative-eagle-topk", "1") != "1":
        return "vLLM drafts a chain: a top-k above 1 has no counterpart"
    draft = values.get("speculative-draft-model-path")
    method = {"EAGLE": "eagle" if draft else "mtp", "NEXTN": "mtp", "EAGLE3": "eagle3", "NGRAM": "ngram"}.get(algorithm)
    if method is None:
        return f"the algorithm {algorithm} has no known counterpart"
    config: dict[str, object] = {"method": method}
    if draft:
        config["model"] = draft
    if steps := values.get("speculative-num-steps"):
        config["num_speculative_tokens"] = Bare(steps)
    backend = values.get("speculative-draft-attention-backend")
    if backend and (mapped := flags()["attention-backend"].values.get(backend, backend)):
        config["attention_backend"] = mapped
    return config


def deepep(values: dict[str, str]) -> str | None:
    """The value of the all-to-all backend, or None where the flags say nothing that vLLM can be told."""
    backend = values.get("moe-a2a-backend")
    if backend == "deepep":
        return "deepep_low_latency" if values.get("deepep-mode") == "low_latency" else "deepep_high_throughput"
    return {"mooncake": None, "none": None}.get(backend, backend) if backend else None


def transfer(values: dict[str, str]) -> dict[str, object] | str:
    """The JSON of the KV connector, or why there is none."""
    backend, device = values.get("disaggregation-transfer-backend"), values.get("disaggregation-ib-device")
    if backend is None:
        return "the flag stands without --sglang-disaggregation-transfer-backend"
    connector = {"mooncake": "MooncakeConnector", "nixl": "NixlConnector"}.get(backend)
    if connector is None:
        return f"the transfer backend {backend} has no known counterpart"
    if device and backend != "mooncake":
        return "vLLM's connector takes the device from the environment (UCX_NET_DEVICES)"
    config: dict[str, object] = {"kv_connector": connector, "kv_role": "kv_both"}
    return config | ({"kv_connector_extra_config": {"device_name": device}} if device else {})


class Bare(str):
    """A value that JSON shows without quotes: a number, or a variable that will be one."""


def to_json(config: dict[str, object]) -> str:
    """Compact JSON, with bare words as they are."""
    import json

    return (
        "{"
        + ",".join(
            f"{json.dumps(k)}:{v if isinstance(v, Bare) else to_json(v) if isinstance(v, dict) else json.dumps(v)}"
            for k, v in config.items()
        )
        + "}"
    )
