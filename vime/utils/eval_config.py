"""Evaluation sets: what each says for itself, then the defaults of the file, then the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

__all__ = [
    "EvalConfigError",
    "EvalDatasetConfig",
    "build_eval_dataset_configs",
    "ensure_dataset_list",
    "eval_datasets",
    "pick_from_args",
]

# Where a value comes from that neither a set nor the file's defaults give: options, the first that is set.
DATASET_RUNTIME_SPECS: dict[str, tuple[str, ...]] = {
    "n_samples_per_eval_prompt": ("n_samples_per_eval_prompt",),
    "temperature": ("eval_temperature", "rollout_temperature"),
    "top_p": ("eval_top_p", "rollout_top_p"),
    "top_k": ("eval_top_k", "rollout_top_k"),
    "max_response_len": ("eval_max_response_len", "rollout_max_response_len"),
    "stop": ("rollout_stop",),
    "stop_token_ids": ("rollout_stop_token_ids",),
    "min_new_tokens": ("eval_min_new_tokens",),
}
DATASET_SAMPLE_SPECS: dict[str, tuple[str, ...]] = {
    "input_key": ("eval_input_key", "input_key"),
    "label_key": ("eval_label_key", "label_key"),
    "tool_key": ("eval_tool_key", "tool_key"),
    "metadata_key": ("metadata_key",),
    "multimodal_keys": ("multimodal_keys",),
    "apply_chat_template": ("apply_chat_template",),
    "apply_chat_template_kwargs": ("apply_chat_template_kwargs",),
    "custom_rm_path": ("eval_custom_rm_path", "custom_rm_path"),
}
_SPECS = DATASET_RUNTIME_SPECS | DATASET_SAMPLE_SPECS
_REFUSED = (
    *("app_service", "eval_task_timeout", "eval_early_stop_remaining", "eval_early_stop_idle_timeout"),
    *("message_processor", "reward_model", "remote_environment"),
)


class EvalConfigError(ValueError):
    """Evaluation sets that cannot be read; names the place, and what there may be."""


@dataclass
class EvalDatasetConfig:
    """One evaluation set; None is what the command line says."""

    name: str
    path: str
    n_samples_per_eval_prompt: int | None = None
    # How answers are drawn.
    max_response_len: int | None = None
    min_new_tokens: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    repetition_penalty: float | None = None
    stop: list[str] | None = None
    stop_token_ids: list[int] | None = None
    no_stop_trim: bool | None = None
    skip_special_tokens: bool | None = None
    custom_generate_function_path: str | None = None
    # What they are worth.
    custom_rm_path: str | None = None
    rm_type: str | None = None
    # How a line is read.
    apply_chat_template: bool | None = None
    apply_chat_template_kwargs: dict[str, Any] | None = None
    input_key: str | None = None
    label_key: str | None = None
    metadata_key: str | None = None
    multimodal_keys: dict[str, str] | None = None
    tool_key: str | None = None
    min_eval_samples: int | None = None
    """Fewer answers than this make no result."""
    metadata_overrides: dict[str, Any] = field(default_factory=dict)
    # Fields of upstream's services, which there are none of here.
    app_service: str | None = None
    eval_task_timeout: int | None = None
    eval_early_stop_remaining: int | None = None
    eval_early_stop_idle_timeout: float | None = None
    message_processor: dict[str, Any] | None = None
    reward_model: dict[str, Any] | None = None
    remote_environment: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self.metadata_overrides = _mapping(self.metadata_overrides, f"{self.name}: metadata_overrides")
        if not all(isinstance(text, str) and text for text in (self.name, self.path)):
            raise EvalConfigError(f"evaluation set {self.name!r} at {self.path!r}: name and path are texts")
        fewest = self.min_eval_samples
        if fewest is not None and not (isinstance(fewest, int) and fewest > 0):
            raise EvalConfigError(f"{self.name}: min_eval_samples is a whole number above 0, not {fewest!r}")
        if refused := [name for name in _REFUSED if getattr(self, name) is not None]:
            raise EvalConfigError(f"{self.name}: {', '.join(refused)} need a service that this framework does not have")

    @property
    def cache_key(self) -> tuple[Any, ...]:
        """What distinguishes sets that are read differently."""
        return (self.name, self.path, self.input_key, self.label_key, self.tool_key, self.metadata_key)

    def inject_metadata(self, sample_metadata: Any) -> dict[str, Any]:
        """A sample's metadata with what the set says for all its samples."""
        own = dict(sample_metadata) if isinstance(sample_metadata, Mapping) else {}
        return own | ({} if self.rm_type is None else {"rm_type": self.rm_type}) | self.metadata_overrides


def ensure_dataset_list(config: Any) -> list[dict[str, Any]]:
    """The sets of a configuration, which lists them or has them by name."""
    if config is None:
        return []
    if isinstance(config, Mapping):
        return [{"name": name} | _mapping(one, f"eval set {name}") for name, one in config.items()]
    if not isinstance(config, list | tuple):
        raise EvalConfigError(f"eval.datasets is a list or a mapping, not {type(config).__name__}")
    sets = [_mapping(one, "each of eval.datasets") for one in config]
    if any("name" not in one for one in sets):
        raise EvalConfigError("each of eval.datasets needs a name")
    return sets


def eval_datasets(args: Any) -> list[EvalDatasetConfig]:
    """The sets of --eval-config, else of --eval-prompt-data (name and file in turn; a file alone is called by its name).

    Raises EvalConfigError.
    """
    if args.eval_config:
        about = _read_yaml(args.eval_config)
        sets = ensure_dataset_list(about.get("datasets"))
        if not sets:
            raise EvalConfigError(f"{args.eval_config}: there are no eval.datasets; list them, each with name and path")
        return build_eval_dataset_configs(args, sets, about.get("defaults"))
    given = list(args.eval_prompt_data or ())
    if len(given) == 1:
        given = [Path(given[0].partition("@[")[0]).stem, *given]
    if len(given) % 2:
        raise EvalConfigError(f"--eval-prompt-data takes a name and a file in turn, not {' '.join(given)}")
    pairs = zip(given[::2], given[1::2], strict=True)
    return build_eval_dataset_configs(args, [{"name": name, "path": path} for name, path in pairs], {})


def _read_yaml(path: str) -> Mapping[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        content = YAML(typ="safe", pure=True).load(Path(path).read_text("utf-8"))
    except OSError as error:
        raise EvalConfigError(f"--eval-config {path}: {error.strerror}") from error
    except (YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise EvalConfigError(f"--eval-config {path}: {error}") from error
    about = content.get("eval", content) if isinstance(content, Mapping) else None
    if not isinstance(about, Mapping):
        raise EvalConfigError(f"--eval-config {path}: a mapping with `eval:` and its datasets is needed")
    return about


def build_eval_dataset_configs(
    args: Any, raw_config: Iterable[Mapping[str, Any]], defaults: Mapping[str, Any] | None
) -> list[EvalDatasetConfig]:
    """The sets with every value filled in. Raises ValueError for a key that nothing reads."""
    defaults = _mapping(defaults, "eval.defaults")
    known = {one.name for one in fields(EvalDatasetConfig)}
    sets = []
    for where, given in [("eval.defaults", defaults), *((f"eval set {one.get('name')}", one) for one in raw_config)]:
        if unknown := sorted(given.keys() - known):
            raise EvalConfigError(f"{where}: nothing reads {', '.join(unknown)}; there are {', '.join(sorted(known))}")
        if given is not defaults:
            from_args = {name: pick_from_args(args, options) for name, options in _SPECS.items()}
            if missing := {"name", "path"} - given.keys():
                raise EvalConfigError(f"{where}: no {' and no '.join(sorted(missing))}")
            sets.append(EvalDatasetConfig(**(from_args | defaults | dict(given))))
    names = [one.name for one in sets]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise EvalConfigError(
            f"evaluation sets are told apart by their names: {', '.join(twice)} stands twice; rename one"
        )
    return sets


def pick_from_args(args: Any, attrs: tuple[str, ...]) -> Any:
    """The first of these options that is set."""
    return next((value for attr in attrs if (value := getattr(args, attr, None)) is not None), None)


def _mapping(value: Any, where: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise EvalConfigError(f"{where} is a mapping, not {type(value).__name__}")
    return dict(value)
