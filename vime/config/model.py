"""The model's Hugging Face configuration, and the fields of Megatron-core that it implies."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vime.config.problems import Problem

_Config = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """One field: its value from the model's configuration. A `fixed` one is the model's shape, which no flag may change."""

    name: str
    value: Callable[[_Config], Any]
    fixed: bool = True


@dataclass(frozen=True)
class Implied:
    """What a model implies: values, where they come from, which of them are fixed, and what is wrong."""

    values: Mapping[str, Any]
    where: str
    fixed: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()


def _head_dim(c: _Config) -> int:
    return c.get("head_dim") or (128 if c["model_type"] == "qwen3" else c["hidden_size"] // c["num_attention_heads"])


def _rope(c: _Config) -> Mapping[str, Any]:
    """The rotary parameters, which newer configurations keep together."""
    return c.get("rope_parameters") or {**(c.get("rope_scaling") or {}), "rope_theta": c.get("rope_theta", 10000.0)}


_SCALINGS = {
    "linear": ("factor",),
    "llama3": ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"),
}
"""Ways to stretch the rotary embedding, and what each is told."""


def _rope_type(c: _Config) -> str:
    return _rope(c).get("rope_type", _rope(c).get("type", "default"))


def _rope_scaling(c: _Config) -> Mapping[str, Any] | None:
    """How the rotary embedding is stretched; None where it is not, or in a way that is refused."""
    if (told := _SCALINGS.get(_rope_type(c))) is None:
        return None
    return {"rope_type": _rope_type(c), **{name: _rope(c)[name] for name in told}}


FIELDS: tuple[Field, ...] = (
    Field("num_layers", lambda c: c["num_hidden_layers"]),
    Field("hidden_size", lambda c: c["hidden_size"]),
    Field("ffn_hidden_size", lambda c: c["intermediate_size"]),
    Field("num_attention_heads", lambda c: c["num_attention_heads"]),
    Field("num_query_groups", lambda c: c.get("num_key_value_heads") or c["num_attention_heads"]),
    Field("kv_channels", _head_dim),
    Field("vocab_size", lambda c: c["vocab_size"]),
    Field("max_position_embeddings", lambda c: c["max_position_embeddings"], fixed=False),
    Field("layernorm_epsilon", lambda c: float(c.get("rms_norm_eps", 1e-6))),
    Field("rotary_base", lambda c: float(_rope(c)["rope_theta"])),
    Field("rope_scaling", _rope_scaling),
    Field("untie_embeddings_and_output_weights", lambda c: not c.get("tie_word_embeddings", False)),
    Field("normalization", lambda c: "RMSNorm"),
    Field("gated_linear_unit", lambda c: True),
    Field("activation_func", lambda c: c.get("hidden_act", "silu")),
    Field("add_bias_linear", lambda c: False),
    Field("add_qkv_bias", lambda c: c["model_type"] == "qwen2"),
    Field("qk_layernorm", lambda c: c["model_type"] == "qwen3"),
    Field("attention_dropout", lambda c: float(c.get("attention_dropout") or 0.0), fixed=False),
    Field("hidden_dropout", lambda c: 0.0, fixed=False),
)

SUPPORTED = ("qwen2", "qwen3", "llama")

_UNSUPPORTED: tuple[tuple[Callable[[_Config], bool], str], ...] = (
    (lambda c: c.get("hidden_act", "silu") != "silu", "its activation is not SiLU"),
    (lambda c: bool(c.get("use_sliding_window")), "it uses a sliding window"),
    (
        lambda c: _rope_type(c) not in ("default", *_SCALINGS),
        "its rotary embedding is stretched in a way not known here",
    ),
    (lambda c: bool(c.get("attention_bias")), "its attention has biases everywhere"),
    (lambda c: bool(c.get("mlp_bias")), "its feed-forward layers have biases"),
    (lambda c: c.get("quantization_config") is not None, "its weights are quantised"),
)


def _seen_from(path: Path) -> str:
    """From where a path leads nowhere: a run may have been begun in another folder than its file was written for."""
    return "" if path.is_absolute() else f" in {Path.cwd()}"


def implied_by_model(checkpoint: str | None, own_model: bool = False) -> Implied:
    """What the model in the folder `checkpoint` implies; nothing where the user makes the model (`own_model`)."""
    if checkpoint is None or own_model:
        return Implied({}, "")
    path = Path(checkpoint) / "config.json"
    try:
        config = json.loads(path.read_text("utf-8"))
    except OSError:
        fix = "name a folder with a Hugging Face model; `hf download NAME --local-dir FOLDER` fetches one"
        if maker := next((file for folder in path.parents if (file := folder / "prepare.py").is_file()), None):
            fix = f"run python {maker}, which makes it"
            if path.parents[1].is_dir():  # it was run, and this is what a stage after it leaves
                fix = f"{maker.with_name('README.md')} says what makes it"
        return _refused("--hf-checkpoint", f"there is no {path}{_seen_from(path)}", fix)
    except ValueError as error:
        return _refused(str(path), f"is not JSON ({error})", "fetch the model again")
    if not isinstance(config, dict) or config.get("model_type") not in SUPPORTED:
        kind = config.get("model_type") if isinstance(config, dict) else None
        fix = f"use one of {', '.join(SUPPORTED)}, or make the model yourself with --custom-model-provider-path"
        return _refused(str(path), f"the model is of type {kind}", fix)
    return _read(config, str(path))


def _read(config: _Config, where: str) -> Implied:
    try:
        values = {field.name: field.value(config) for field in FIELDS}
        reasons = [reason for applies, reason in _UNSUPPORTED if applies(config)]
    except KeyError as missing:
        return _refused(where, f"{missing.args[0]} is missing", "fetch the model again")
    except (TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        return _refused(where, f"a value is of the wrong type ({error})", "fetch the model again")
    if reasons:
        return _refused(where, "; ".join(reasons), "choose another model, or make it with --custom-model-provider-path")
    return Implied(values, where, frozenset(field.name for field in FIELDS if field.fixed))


def mismatches(implied: Implied, given: Mapping[str, Any], places: Mapping[str, str]) -> list[Problem]:
    """Where what the user gave contradicts the model's shape."""
    return [
        Problem(
            places.get(name, "--" + name.replace("_", "-")),
            f"{name} {given[name]} is {right} in {implied.where}",
            "leave it out",
        )
        for name, right in implied.values.items()
        if name in implied.fixed and given.get(name) is not None and given[name] != right
    ]


def _refused(where: str, what: str, fix: str) -> Implied:
    return Implied({}, where, problems=(Problem(where, what, fix),))
