"""`args`, the flat namespace that hooks and upstream's code read: every option under upstream's name, and frozen."""

from collections.abc import Set
from types import SimpleNamespace
from typing import Any, NoReturn


class Frozen(AttributeError, TypeError):
    """An attempt to change `args`."""


class Args(SimpleNamespace):
    """Every option as an attribute. It is pickled and compared by value, and `vars(args)` is a mapping of it."""

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise Frozen(
            f"args.{name} cannot be set: the arguments are frozen; args.replace({name}=...) makes a copy with it"
        )

    def __delattr__(self, name: str) -> NoReturn:
        raise Frozen(f"args.{name} cannot be deleted: the arguments are frozen")

    def __contains__(self, name: object) -> bool:
        return name in vars(self)

    def replace(self, **changes: Any) -> "Args":
        """A copy in which `changes` hold."""
        return type(self)(**{**vars(self), **changes})


class Unreadable(Exception):
    """Something asked for an option whose own value is wrong already, and has nothing to say then."""


class Guarded:
    """`args` while it is being validated: an option whose value could not be read raises Unreadable."""

    def __init__(self, args: Args, unreadable: Set[str]) -> None:
        self._args, self._unreadable = args, unreadable

    def __getattr__(self, name: str) -> Any:
        if name in self._unreadable:
            raise Unreadable(name)
        return getattr(self._args, name)

    def __dir__(self) -> list[str]:
        return [*vars(self._args)]
