"""From flags and files to one validated, frozen configuration, or to the list of all that is wrong."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vime.config.args import Args, Guarded
from vime.config.derive import derive
from vime.config.flags import read_flags
from vime.config.given import Given
from vime.config.groups import GROUPS
from vime.config.model import implied_by_model, mismatches
from vime.config.option import Option
from vime.config.problems import ConfigError, Problem
from vime.config.rules import broken
from vime.config.rules.check import Check
from vime.config.schema import Schema
from vime.config.spellings import fields_set
from vime.config.yamlfile import read_file
from vime.device import Device, detect


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


def resolve(argv: Sequence[str], files: Sequence[Path], schema: Schema) -> Config:
    """The configuration of these flags over these files, a later over an earlier one; ConfigError has every problem."""
    given: list[Given] = []
    problems: list[Problem] = []
    for found, wrong in [*(read_file(path, schema) for path in files), read_flags(argv, schema)]:
        given += found
        problems += wrong
    last = {one.option.name: one for one in given}
    return _Draft(schema, last, problems).settle()


@dataclass(frozen=True)
class _Draft:
    """What was given, on its way to a configuration."""

    schema: Schema
    given: Mapping[str, Given]
    problems: Sequence[Problem]

    def settle(self) -> Config:
        values = {option.name: option.default for option in self.schema.own} | self._values()
        unreadable = {problem.option for problem in self.problems} - {""}
        device = detect(values["device"])
        megatron = self._megatron()
        implied = implied_by_model(values["hf_checkpoint"], values["custom_model_provider_path"] is not None)
        wrong = [*self.problems, *implied.problems, *mismatches(implied, self._values() | megatron, self._places())]
        origins = {name: implied.where for name, value in implied.values.items() if values.get(name) is None}
        values |= {name: implied.values[name] for name in origins}
        args, why, unreadable = derive(Args(**values), device, unreadable)
        origins |= self._places() | {name: f"derived: {reason}" for name, reason in why.items()}
        found = broken(Check(Guarded(args, unreadable), device, self._places()))
        if wrong := wrong + [problem for problem in found if not problem.warning]:
            raise ConfigError(wrong)
        own = {option.name for option in self.schema.own}
        return Config(
            args=args,
            groups={group.NAME: _group(group, args) for group in GROUPS},
            origins=origins,
            options=tuple(option for option in self.schema.known() if option.name in args),
            engine=device.engine_options(args.dtype) | self._engine(),
            megatron={name: value for name, value in implied.values.items() if name not in own} | megatron,
            device=device,
            warnings=tuple(found),
        )

    def _values(self) -> dict[str, Any]:
        return {name: one.value for name, one in self.given.items()}

    def _places(self) -> dict[str, str]:
        return {name: one.where for name, one in self.given.items()}

    def _engine(self) -> dict[str, Any]:
        return {name.removeprefix("vllm_"): one.value for name, one in self.given.items() if one.option.group == "vllm"}

    def _megatron(self) -> dict[str, Any]:
        """Fields that were given by name, and those that the launcher's spellings set."""
        fields: dict[str, Any] = {}
        for name, one in self.given.items():
            if one.option.group == "megatron":
                spelled = fields_set(name, one.value)
                fields |= {name: one.value} if spelled is None else spelled
        return fields


def _group(group: type, args: Args) -> Any:
    return group(**{name: getattr(args, name) for name in (field.name for field in dataclasses.fields(group))})
