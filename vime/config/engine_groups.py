"""The file of --vllm-config: several models, each served by groups of engines.

    vllm:
      - name: actor
        server_groups:
          - {worker_type: regular, num_gpus: 4, num_gpus_per_engine: 2}
      - name: judge
        model_path: /models/judge
        update_weights: false
        server_groups:
          - {worker_type: regular, num_gpus: 2, overrides: {max_model_len: 4096}}

`overrides` are options of vLLM, as --vllm-... takes them. A `placeholder` group keeps GPUs free. Groups that split one
request over engines (prefill, decode, encoder) are refused: they need KV transfer between engines, which this version
does not set up.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEY = "vllm"
_GROUPS_KEYS = ("server_groups", "engine_groups")
_REFUSED = {
    "prefill": "prefill and decode engines hand the KV cache on, for which vLLM needs a KV connector",
    "decode": "prefill and decode engines hand the KV cache on, for which vLLM needs a KV connector",
    "encoder": "an encoder's engine hands embeddings on, for which vLLM needs an EC connector",
}


class VllmConfigError(ValueError):
    """What is wrong with the file, and where in it."""


@dataclass(frozen=True)
class ServerGroupConfig:
    """Engines of one kind: `num_gpus` in all, `num_gpus_per_engine` each (the model's where None)."""

    worker_type: str
    num_gpus: int
    num_gpus_per_engine: int | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.worker_type in _REFUSED:
            raise VllmConfigError(f"worker_type {self.worker_type}: {_REFUSED[self.worker_type]}")
        if self.worker_type not in ("regular", "placeholder"):
            raise VllmConfigError(f"worker_type {self.worker_type}: it is regular or placeholder")
        for name in ("num_gpus", "num_gpus_per_engine"):
            value = getattr(self, name)
            if not (value is None and name != "num_gpus") and not (isinstance(value, int) and value > 0):
                raise VllmConfigError(f"{name} {value}: it is a whole number above 0")
        if self.num_gpus_per_engine and self.num_gpus % self.num_gpus_per_engine:
            raise VllmConfigError(f"num_gpus {self.num_gpus} is no multiple of {self.num_gpus_per_engine} an engine")

    @property
    def num_engines(self) -> int:
        """How many engines it has, once it is resolved."""
        return 0 if self.worker_type == "placeholder" else self.num_gpus // (self.num_gpus_per_engine or 1)


@dataclass(frozen=True)
class ModelConfig:
    """One model, the folder it is in (`args.hf_checkpoint` where None), and whether the trainer's weights go to it."""

    name: str
    model_path: str | None = None
    num_gpus_per_engine: int | None = None
    server_groups: tuple[ServerGroupConfig, ...] = ()
    update_weights: bool | None = None

    def resolve(self, args: Any) -> "ModelConfig":
        """The same with everything filled in: weights go to what is the trainer's own model, if it does not say."""
        path = self.model_path or args.hf_checkpoint
        each = self.num_gpus_per_engine or args.rollout_num_gpus_per_engine
        groups = tuple(
            dataclasses.replace(group, num_gpus_per_engine=group.num_gpus_per_engine or each)
            for group in self.server_groups
        )
        updated = path == args.hf_checkpoint if self.update_weights is None else self.update_weights
        return ModelConfig(self.name, path, each, groups, updated)

    @property
    def has_pd_disaggregation(self) -> bool:
        """Whether requests are split over engines: not in this version."""
        return False

    @property
    def has_encoder_disaggregation(self) -> bool:
        """Whether encoders have engines of their own: not in this version."""
        return False

    @property
    def total_num_gpus(self) -> int:
        """GPUs of all groups, with those that are kept free."""
        return sum(group.num_gpus for group in self.server_groups)


@dataclass(frozen=True)
class VllmConfig:
    """Every model that the engines serve."""

    models: tuple[ModelConfig, ...]

    @staticmethod
    def from_yaml(path: str) -> "VllmConfig":
        """What the file says. Raises VllmConfigError for what it may not say, OSError where there is no file."""
        from ruamel.yaml import YAML, YAMLError

        try:
            data = YAML(typ="safe", pure=True).load(Path(path).read_text("utf-8"))
        except (YAMLError, UnicodeDecodeError) as error:
            raise VllmConfigError(f"{path} is not YAML: {error}") from error
        if not isinstance(data, dict) or not isinstance(data.get(KEY), list):
            raise VllmConfigError(f"{path}: the models stand in a list under `{KEY}:`")
        models = tuple(_model(item, f"{path}: {KEY}[{i}]") for i, item in enumerate(data[KEY]))
        if len({model.name for model in models}) < len(models):
            raise VllmConfigError(f"{path}: two models have the same name")
        return VllmConfig(models)

    @staticmethod
    def of_args(args: Any) -> "VllmConfig":
        """What the options say: the file of --vllm-config, or one model on one group of engines. Resolved."""
        if args.vllm_config:
            models = VllmConfig.from_yaml(args.vllm_config).models
        else:
            models = (ModelConfig("default", server_groups=(ServerGroupConfig("regular", args.rollout_num_gpus),)),)
        return VllmConfig(tuple(model.resolve(args) for model in models))

    @property
    def has_pd_disaggregation(self) -> bool:
        """Whether requests are split over engines: not in this version."""
        return False

    @property
    def total_num_gpus(self) -> int:
        """GPUs of all models."""
        return sum(model.total_num_gpus for model in self.models)


def _model(item: Any, where: str) -> ModelConfig:
    values = _known(item, ModelConfig, where, aliases=_GROUPS_KEYS)
    groups = next((values.pop(key) for key in _GROUPS_KEYS if values.get(key)), None) or []
    if not isinstance(groups, list) or not groups:
        raise VllmConfigError(f"{where}: server_groups is a list with at least one group")
    made = tuple(_group(group, f"{where}.server_groups[{i}]") for i, group in enumerate(groups))
    return ModelConfig(**{**values, "server_groups": made})


def _group(item: Any, where: str) -> ServerGroupConfig:
    values = _known(item, ServerGroupConfig, where)
    overrides = {str(key).replace("-", "_"): value for key, value in (values.get("overrides") or {}).items()}
    try:
        return ServerGroupConfig(**{**values, "overrides": overrides})
    except VllmConfigError as error:
        raise VllmConfigError(f"{where}: {error}") from error


def _known(item: Any, kind: type, where: str, aliases: tuple[str, ...] = ()) -> dict[str, Any]:
    """The keys of `item`, each of which must be a field of `kind`, and each field without a default there."""
    if not isinstance(item, dict):
        raise VllmConfigError(f"{where}: it is a mapping")
    fields = {one.name: one for one in dataclasses.fields(kind)}
    if wrong := [key for key in item if key not in fields and key not in aliases]:
        raise VllmConfigError(f"{where}: no key is called {wrong[0]}; there are {', '.join(fields)}")
    required = [
        n for n, f in fields.items() if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if missing := [name for name in required if name not in item]:
        raise VllmConfigError(f"{where}: {missing[0]} is missing")
    return dict(item)
