"""Arguments of one role (actor, critic): the common ones with what a file says otherwise.

The file has a list `megatron`, with entries of `role` and `overrides`.
"""

from pathlib import Path
from typing import Any

from vime.config.args import Args
from vime.config.option import Option
from vime.config.parse import BadValue, parse
from vime.config.problems import ConfigError, Problem
from vime.config.schema import own_options
from vime.config.yamlfile import load_nodes, plain

_PLACED_BY_FLAGS = frozenset({"num_nodes", "num_gpus_per_node"})
"""Where a role runs is what the flags say, whatever the file does."""
_CRITIC = {
    "kl_coef": 0.0,
    "use_opd": False,
    "custom_advantage_function_path": None,
    "untie_embeddings_and_output_weights": True,
}


def role_args(base: Args, path: Path, role: str) -> Args:
    """`base` with the overrides of `role`; without an entry, as it is."""
    root, problem = load_nodes(path)
    if problem:
        raise ConfigError([problem])
    changes = _overrides(plain(root) if root is not None else {}, str(path), role)
    options = {option.name: option for option in own_options()}
    read = {name: _read(options.get(name), value, f"{path}: {name}") for name, value in changes.items()}
    return base.replace(**(read | (_CRITIC if role == "critic" else {})))


def _overrides(content: dict[str, Any], where: str, role: str) -> dict[str, Any]:
    entries = content.get("megatron")
    fix = "write a list `megatron` of entries with `role` and `overrides`"
    if role not in ("actor", "critic"):
        raise ConfigError([Problem(where, f"there is no role {role}", "the roles are actor and critic")])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError([Problem(where, "there is no list `megatron`", fix)])
    mine = [entry for entry in entries if entry.get("role") == role]
    if len(mine) > 1:
        raise ConfigError([Problem(where, f"the role {role} has {len(mine)} entries", "keep one of them")])
    changes = (mine[0].get("overrides") or mine[0].get("args") or {}) if mine else {}
    if not isinstance(changes, dict):
        raise ConfigError([Problem(where, f"the overrides of {role} are no mapping", fix)])
    names = {name: name.replace("-", "_") for name in changes}
    return {names[name]: value for name, value in changes.items() if names[name] not in _PLACED_BY_FLAGS}


def _read(option: Option | None, value: Any, where: str) -> Any:
    """The value, by the option's type where it is text that stands for a number."""
    if option is None or option.kind not in ("int", "float") or option.many or value is None:
        return value
    try:
        return parse(option, str(value))
    except BadValue as bad:
        raise ConfigError([Problem(where, str(bad), f"give {option.type_name}")]) from None
