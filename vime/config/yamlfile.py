"""A configuration file as values, each with its line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vime.config.given import Given
from vime.config.option import Option
from vime.config.parse import BadValue, parse
from vime.config.problems import Problem
from vime.config.schema import Schema, Unknown, Use

_DEEPEST = 20


@dataclass(frozen=True)
class FileValues:
    """What a file says."""

    given: tuple[Given, ...] = ()
    problems: tuple[Problem, ...] = ()
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Attributes that are no options, where such are taken."""
    unread: bool = False
    """Nothing of it is known, so that nothing is missing because it is not there."""


def read_file(path: Path, schema: Schema, extras: bool = False) -> FileValues:
    """The values of a YAML (or JSON) file, and what is wrong with it; with `extras`, a key that is no option is kept too."""
    root, problem = load_nodes(path)
    if problem:
        return FileValues(problems=(problem,), unread=True)
    reader = _Reader(str(path), schema, extras)
    if root is not None:
        reader.mapping(root, None)
    return FileValues(tuple(reader.given), tuple(reader.problems), reader.extras)


def load_nodes(path: Path) -> tuple[Any, Problem | None]:
    """The file's nodes, which know their lines; None where it is empty."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        root = YAML(typ="safe", pure=True).compose(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        return None, Problem(str(path), f"cannot be read ({error.strerror})", "name a file that exists")
    except UnicodeDecodeError:
        return None, Problem(str(path), "is not UTF-8", "save it as UTF-8")
    except (YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}:{mark.line + 1}" if mark else str(path)
        return None, Problem(where, f"is not YAML ({getattr(error, 'problem', None) or error})", "mend the syntax")
    if root is not None and root.id != "mapping":
        return None, Problem(f"{path}:1", "is not a mapping", "write `option: value` on each line")
    return root, None


class _Reader:
    def __init__(self, path: str, schema: Schema, take_extras: bool) -> None:
        self.path, self.schema, self.take_extras = path, schema, take_extras
        self.extras: dict[str, Any] = {}
        self.given: list[Given] = []
        self.problems: list[Problem] = []
        self._set: dict[str, str] = {}

    def mapping(self, node: Any, group: str | None) -> None:
        for key, value in node.value:
            where = f"{self.path}:{key.start_mark.line + 1}"
            if key.id != "scalar" or key.tag.endswith(":merge"):
                self._bad(where, "the key is not a name", "write the name of an option")
            elif group is None and self._opens_group(key.value, value):
                if value.id == "mapping":
                    self.mapping(value, key.value)
                elif not _is_null(value):
                    self._bad(where, f"{key.value} is a group of options", "write them below it, indented")
            else:
                self._option(_text(key), value, where, group)

    def _opens_group(self, key: str, value: Any) -> bool:
        """Whether `key` is a group; an option of the same name takes a plain value."""
        return key in self.schema.groups() and (value.id == "mapping" or not self.schema.has(key))

    def _option(self, key: str, node: Any, where: str, group: str | None) -> None:
        try:
            use = self.schema.key(key, group)
        except Unknown as unknown:
            return self._no_option(key, node, where, unknown)
        option = use.option
        if group is not None and option.group != group:
            return self._bad(where, f"{key} is not in the group {group}", f"put it under {option.group}, or at the top")
        if option.name in self._set:
            return self._bad(where, f"{key} is set already, at {self._set[option.name]}", "keep one of them")
        self._set[option.name] = where
        try:
            self.given.append(Given(option, _value(use, node), where))
        except BadValue as bad:
            null = " or null" if option.optional else ""
            self._bad(where, f"{key}: {bad}", f"give {option.type_name}{null}", option.name)

    def _no_option(self, key: str, node: Any, where: str, unknown: Unknown) -> None:
        if self.take_extras and key.isidentifier() and not unknown.claimed:
            try:
                self.extras[key] = plain(node)
            except BadValue as bad:
                self._bad(where, f"{key}: {bad}", "write plain YAML values")
        else:
            self._bad(where, unknown.told("no option{ours} is called {name}", key), unknown.hint(dashes=False))

    def _bad(self, where: str, what: str, fix: str, option: str = "") -> None:
        self.problems.append(Problem(where, what, fix, option))


def _value(use: Use, node: Any) -> Any:
    option = use.option
    if _is_null(node):
        if not option.optional or use.switch is not None:
            raise BadValue("it cannot be null")
        return None
    if option.kind == "json" and not option.many:
        return parse(option, _text(node)) if node.id == "scalar" else plain(node)
    if option.many:
        if node.id != "sequence":
            raise BadValue("it takes a list")
        return tuple(_one(option, item) for item in node.value)
    value = _one(option, node)
    return (not value) if use.switch is False else value


def _one(option: Option, node: Any) -> Any:
    if option.kind == "raw" and node.id != "scalar":
        return plain(node)
    if node.id != "scalar":
        raise BadValue(f"it takes one value, not a {node.id}")
    if _is_null(node):
        raise BadValue("it cannot be null")
    return parse(option, _text(node))


def _is_null(node: Any) -> bool:
    return node.id == "scalar" and node.tag.endswith(":null")


def plain(node: Any, depth: int = 0) -> Any:
    """A node as plain values; an option of type JSON takes any."""
    if depth > _DEEPEST:
        raise BadValue("it is nested too deeply")
    match node.id:
        case "mapping":
            pairs = [(plain(key, depth + 1), plain(value, depth + 1)) for key, value in node.value]
            if any(not isinstance(key, str) for key, _ in pairs):
                raise BadValue("a key is not text")
            if len(dict(pairs)) < len(pairs):
                raise BadValue("a key stands twice")
            return dict(pairs)
        case "sequence":
            return [plain(item, depth + 1) for item in node.value]
    return _scalar(node)


def _scalar(node: Any) -> Any:
    """A scalar by its YAML tag; what no tag of JSON's types says is text."""
    text = _text(node)
    match node.tag.rpartition(":")[2]:
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int" | "float" as kind:
            try:
                return int(text) if kind == "int" else float(text)
            except ValueError:
                return text
    return text


def _text(node: Any) -> str:
    """The text of a scalar; JSON writes a character beyond the first plane as two escapes, which are one here."""
    try:
        return node.value.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return node.value
