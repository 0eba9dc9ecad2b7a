"""Every error of the package crosses process borders as it is: Ray pickles it in the actor, and the driver makes it again."""

import importlib
import inspect
import pickle
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import vime
from vime.errors import RunError, says_what_is_wrong, travels

EXAMPLES: dict[str, Any] = {
    "where": "rank 0",
    "causes": {"http://a": ValueError("no")},
    "failures": {"engine 0": RunError("it died", "look there")},
    "holds": {"http://a": "the old weights, and serves"},
    "exit_code": -11,
    "status": 500,
    "bounds": SimpleNamespace(mean=0.1, max=0.2),
    "engines": {"http://a:1": SimpleNamespace(mean=0.1, max=0.5)},
    "seconds": 3.0,
    "names": ["a", "b"],
    "groups": [3, 1],
    "missing": ["a"],
    "urls": ["http://a:1"],
    "url": "http://a:1/x",
    "folder": Path("/x"),
}
"""By the name of the parameter."""
ROOT = Path(vime.__file__).parent
_DEFINES = re.compile(r"^class \w+\(.*(Error|Exception|Failed)\b.*\):", re.M)
KINDS: dict[Any, Any] = {str: "words", int: 7, float: 0.5, bool: True}


def test_every_error_is_the_same_on_the_other_side():
    lost = []
    for error in map(_made, _errors()):
        again = pickle.loads(pickle.dumps(error))
        if type(again) is not type(error) or str(again) != str(error) or vars(again).keys() != vars(error).keys():
            lost.append(type(error).__qualname__)
    assert not lost


def test_what_would_get_lost_is_seen():
    class Composed(ValueError):
        def __init__(self, number: int) -> None:
            super().__init__(f"the number {number}")

    assert str(Composed.__reduce__(Composed(3))[0](*Composed(3).args)) == "the number the number 3"
    make, parts = travels(Composed).__reduce__(Composed(3))
    assert str(make(*parts)) == "the number 3"


def test_the_words_of_the_machine_are_for_the_user_and_those_of_a_bug_are_not():
    assert says_what_is_wrong(OSError(28, "No space left on device", "/ckpt"))
    assert not says_what_is_wrong(FileNotFoundError(2, "No such file", "/x"))
    assert not says_what_is_wrong(KeyError("tokens"))


def _errors() -> Iterator[type[BaseException]]:
    """Those that the installed packages allow to import."""
    found = set()
    for path in ROOT.rglob("*.py"):
        if not _DEFINES.search(path.read_text("utf-8")):
            continue
        try:
            loaded = importlib.import_module(".".join(("vime", *path.relative_to(ROOT).with_suffix("").parts)))
        except ImportError:
            continue
        for value in vars(loaded).values():
            if inspect.isclass(value) and issubclass(value, BaseException) and value.__module__.startswith("vime."):
                found.add(value)
    assert len(found) > 20
    yield from sorted(found, key=lambda error: error.__qualname__)


def _made(error: type[BaseException]) -> BaseException:
    if not inspect.isfunction(error.__init__):
        return error("words")
    types = typing.get_type_hints(error.__init__)
    return error(*(_example(name, types[name]) for name in inspect.signature(error).parameters))


def _example(name: str, kind: Any) -> Any:
    """A value of a parameter: by its name, its type, or, for a record, made of examples again."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    if kind in KINDS:
        return KINDS[kind]
    if inspect.isclass(kind) and hasattr(kind, "__dataclass_fields__"):
        if name == "sample":
            return kind(index=3, group_index=1)
        hints = typing.get_type_hints(kind)
        return kind(**{field: _example(field, hints[field]) for field in kind.__dataclass_fields__})
    if inspect.isclass(kind):
        return kind
    return []
