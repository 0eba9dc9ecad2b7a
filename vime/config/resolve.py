"""From flags and files to one validated, frozen configuration, or to the list of all that is wrong."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from vime.config.args import Args, Guarded
from vime.config.derive import COMPUTED, derive
from vime.config.flags import read_flags
from vime.config.given import Given
from vime.config.groups import GROUPS
from vime.config.megatron import megatron_fields
from vime.config.model import implied_by_model, mismatches
from vime.config.option import Option
from vime.config.owned import OWNED
from vime.config.problems import ConfigError, Problem
from vime.config.rules import RULES, broken
from vime.config.rules.check import Check, Rule
from vime.config.schema import NotInstalled, Schema
from vime.config.yamlfile import FileValues, read_file
from vime.device import Device, detect

_Group = TypeVar("_Group")
_CUSTOM = "custom_config_path"


@dataclass(frozen=True)
class Config:
    """A configuration that holds together."""

    args: Args
    """Every option, flat, under upstream's names."""
    groups: Mapping[str, Any]
    """The typed dataclass of each group, by its name."""
    origins: Mapping[str, str]
    """Where each value that is no default comes from."""
    options: tuple[Option, ...]
    """Every option that has a value in `args`."""
    engine: Mapping[str, Any]
    """vLLM's options as given or as the device wants them, without the prefix."""
    megatron: Mapping[str, Any]
    """Megatron-core's fields as given or as the model implies them."""
    device: Device
    warnings: tuple[Problem, ...]

    def group(self, kind: type[_Group]) -> _Group:
        """The typed group of a component: `config.group(Rollout).rollout_temperature`."""
        return self.groups[kind.NAME]  # type: ignore[attr-defined]


def resolve(
    argv: Sequence[str],
    files: Sequence[Path],
    schema: Schema,
    packages: bool = False,
    rules: Sequence[Rule] = RULES,
) -> Config:
    """The configuration of these flags over these files, a later over an earlier one; ConfigError has every problem.

    With `packages`, every option of the installed packages has its value in `args`, given or not.
    """
    problems = _load_packages(schema) if packages else []
    flags, wrong = read_flags(argv, schema)
    read = [read_file(path, schema) for path in files]
    paths = [one.value for one in (*_chain(read), *flags) if one.option.name == _CUSTOM and one.value]
    custom = read_file(Path(paths[-1]), schema, extras=True) if paths else FileValues()
    problems += [problem for file in (*read, custom) for problem in file.problems] + wrong
    if any(file.unread for file in (*read, custom)):
        raise ConfigError(problems)
    given = {one.option.name: one for one in (*_chain([*read, custom]), *flags)}
    return _settle(_Draft(schema, given, custom.extras), problems, rules)


def _load_packages(schema: Schema) -> list[Problem]:
    problems = []
    for package in schema.packages:
        try:
            schema.options(package.name)
        except NotInstalled as missing:
            problems.append(Problem("vime train", missing.what, missing.fix))
    return problems


def _chain(files: Iterable[FileValues]) -> list[Given]:
    return [one for file in files for one in file.given]


@dataclass(frozen=True)
class _Draft:
    """What was given."""

    schema: Schema
    given: Mapping[str, Given]
    extras: Mapping[str, Any]

    def values(self) -> dict[str, Any]:
        return {name: one.value for name, one in self.given.items()}

    def places(self) -> dict[str, str]:
        return {name: one.where for name, one in self.given.items()}

    def of(self, group: str) -> dict[str, Given]:
        return {name: one for name, one in self.given.items() if one.option.group == group}

    def engine(self) -> dict[str, Any]:
        return {name.removeprefix("vllm_"): one.value for name, one in self.of("vllm").items()}


def _settle(draft: _Draft, problems: list[Problem], rules: Sequence[Rule]) -> Config:
    """The rest of what is wrong, or the configuration."""
    values = {option.name: option.default for option in draft.schema.known()} | draft.values()
    device = detect(values["device"])
    fields, places, twice = megatron_fields(draft.of("megatron"))
    implied = implied_by_model(values["hf_checkpoint"], values["custom_model_provider_path"] is not None)
    places = draft.places() | places
    given = {name: value for name, value in (draft.values() | fields).items() if value is not None}
    problems += [*twice, *implied.problems, *mismatches(implied, given, places)]
    missing = {name: value for name, value in implied.values.items() if name not in given}
    unreadable = {problem.option for problem in problems} - {""}
    args, why, unknown = derive(Args(**{**draft.extras, **values, **fields, **missing}), device, unreadable)
    found = broken(Check(Guarded(args, unknown), device, places), rules)
    if problems := problems + [problem for problem in found if not problem.warning]:
        raise ConfigError(problems)
    engine = device.engine_options(args.dtype, args.vllm_enable_deterministic_inference) | _engine_follows(args)
    why |= {key: "what the engine needs here" for name in engine if (key := f"vllm_{name}") not in places}
    engine |= draft.engine()
    args = args.replace(**{f"vllm_{name}": value for name, value in engine.items()})
    args = args.replace(**{name: value(args, device) for name, value in COMPUTED.items()})
    own = {option.name for option in draft.schema.own if option.group != "megatron"}
    return Config(
        args=args,
        groups={group.NAME: _group(group, args) for group in GROUPS},
        origins=places
        | dict.fromkeys(missing, implied.where)
        | {name: f"derived: {reason}" for name, reason in why.items()},
        options=tuple(option for option in draft.schema.known() if option.name not in OWNED),
        engine=engine,
        megatron={name: value for name, value in implied.values.items() if name not in own} | fields,
        device=device,
        warnings=tuple(found),
    )


def _engine_follows(args: Args) -> dict[str, Any]:
    """What the engine is told because of options here."""
    return {} if args.rollout_max_context_len is None else {"max_model_len": args.rollout_max_context_len}


def _group(group: type, args: Args) -> Any:
    return group(**{field.name: getattr(args, field.name) for field in dataclasses.fields(group)})
