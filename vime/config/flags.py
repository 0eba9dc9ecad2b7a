"""The command line as values: every flag is known, whole, and has the values that it takes, or is a problem."""

from collections.abc import Sequence

from vime.config.given import Given
from vime.config.parse import MASK, BadValue, parse
from vime.config.problems import Problem
from vime.config.schema import Schema, Unknown, Use


def read_flags(argv: Sequence[str], schema: Schema) -> tuple[list[Given], list[Problem]]:
    """The values of `argv`, the last of an option last, and what is wrong with it."""
    given: list[Given] = []
    problems: list[Problem] = []
    for flag, values, inline in _words(argv):
        if not flag.startswith("--"):
            fix = f"write --config {flag}" if _is_file(flag) else "flags begin with --; quote a value that holds spaces"
            problems.append(Problem(flag, "not a flag", fix))
            continue
        try:
            use = schema.flag(flag)
            given.append(Given(use.option, _value(use, values, inline), flag))
            for extra in _extra(use, values, inline):
                shown = MASK if use.option.secret else repr(extra)
                what, fix = f"{shown} is one value too many", "give it once, or quote it"
                problems.append(Problem(flag, what, fix, use.option.name))
        except Unknown as unknown:
            what = "flags are not abbreviated" if unknown.shortens(flag) else unknown.told("no such flag{ours}")
            problems.append(Problem(flag, what, unknown.hint()))
        except BadValue as bad:
            problems.append(Problem(flag, str(bad), f"give {use.option.type_name}", use.option.name))
    return _appended(given), problems


def _words(argv: Sequence[str]) -> list[tuple[str, list[str], bool]]:
    """(flag, its values, whether written `--flag=value`) for each flag; a value before any flag stands as a flag."""
    words: list[tuple[str, list[str], bool]] = []
    for word in argv:
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
            words.append((flag, [value] if equals else [], bool(equals)))
        elif words and not words[-1][2] and words[-1][0].startswith("--"):
            words[-1][1].append(word)
        else:
            words.append((word, [], False))
    return words


def _is_file(word: str) -> bool:
    return word.endswith((".yaml", ".yml", ".json"))


def _value(use: Use, values: list[str], inline: bool) -> object:
    option = use.option
    if use.switch is not None:
        if inline:
            raise BadValue("a switch takes no value")
        return use.switch
    if option.many and not option.append:
        return tuple(parse(option, value) for value in values)
    if not values:
        raise BadValue("the value is missing")
    return parse(option, values[0])


def _extra(use: Use, values: list[str], inline: bool) -> list[str]:
    if use.switch is not None:
        return values
    return [] if use.option.many and not use.option.append else values[1:]


def _appended(given: list[Given]) -> list[Given]:
    """With all uses of a flag that adds to a list as one value."""
    lists: dict[str, Given] = {}
    plain = [one for one in given if not one.option.append]
    for one in given:
        if one.option.append:
            before = lists[one.option.name].value if one.option.name in lists else ()
            lists[one.option.name] = Given(one.option, (*before, one.value), one.where)
    return plain + list(lists.values())
