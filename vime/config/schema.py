"""All options by flag and by key: the framework's own at once, those of installed packages only when one is asked for."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vime.config.groups import GROUPS
from vime.config.option import Option, options_of
from vime.config.spellings import spellings
from vime.errors import travels


@dataclass(frozen=True)
class Use:
    """What a flag or key does: give its option a value, or, for a boolean, `switch` it."""

    option: Option
    switch: bool | None = None


@travels
class NotInstalled(Exception):
    """The options of a package cannot be known here; says why and what to do."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.what, self.fix = what, fix


@dataclass(frozen=True)
class Package:
    """The options of an installed package: `load` looks them up, which takes a subprocess the first time."""

    name: str
    prefix: str
    """What all its flags begin with, after `--`."""
    load: Callable[[], tuple[Option, ...]]


@travels
class Unknown(Exception):
    """A flag or key that nothing defines, with those that are spelled most alike."""

    def __init__(self, nearest: Sequence[str], missing: NotInstalled | None, claimed: bool) -> None:
        super().__init__()
        self.nearest, self.missing, self.claimed = tuple(nearest), missing, claimed

    def shortens(self, flag: str) -> bool:
        """Whether `flag` is the beginning of what it is like."""
        return any(near.startswith(flag) for near in self.nearest)

    def told(self, what: str, name: str = "") -> str:
        """`what` with {ours} and {name} filled in: where a package is missing, only the framework's own are known."""
        ours, because = (" of the framework", f", and {self.missing.what}") if self.missing else ("", "")
        return what.format(ours=ours, name=name) + because

    def hint(self, dashes: bool = True) -> str:
        """What to write instead."""
        names = [near if dashes else near.removeprefix("--") for near in self.nearest]
        meant = f"did you mean {' or '.join(names)}?" if names else ""
        install = self.missing.fix if self.missing else ""
        return "; ".join(filter(None, (meant, install))) or "`vime --help all` lists what there is"


class Schema:
    """Looks flags and keys up."""

    def __init__(self, own: Iterable[Option], packages: Sequence[Package] = ()) -> None:
        self.own = tuple(own)
        self.packages = tuple(packages)
        self._loaded: dict[str, tuple[Option, ...]] = {}
        self._flags = _by_flag(self.own)
        self._names = {option.name: option for option in self.own}

    def groups(self) -> tuple[str, ...]:
        """The names under which a file may nest options."""
        return (*dict.fromkeys(option.group for option in self.own), *(package.name for package in self.packages))

    def has(self, name: str) -> bool:
        """Whether an option that was loaded so far is called `name`."""
        return name in self._names

    def known(self) -> tuple[Option, ...]:
        """Every option that was loaded so far."""
        return tuple(self._names.values())

    def flag(self, flag: str) -> Use:
        """What `flag` (with its dashes) does."""
        return self._find(flag, self._flag)

    def key(self, key: str, group: str | None = None) -> Use:
        """What a file's `key` sets: an attribute's name, or a flag's, with - or _; in a package's group without prefix."""
        flag = "--" + key.replace("_", "-")
        prefix = next((package.prefix for package in self.packages if package.name == group), "")
        if not flag.startswith("--" + prefix):
            flag = "--" + prefix + flag.removeprefix("--")
        return self._find(flag, self._key)

    def options(self, package: str) -> tuple[Option, ...]:
        """The options of one package; NotInstalled where there are none."""
        return self._load(next(one for one in self.packages if one.name == package))

    def _flag(self, flag: str) -> Use | None:
        return self._flags.get(flag) or self._taken_back(flag)

    def _taken_back(self, flag: str) -> Use | None:
        """`--no-X` of a switch `--X`: a file may have set it, and flags win."""
        use = self._flags.get("--" + flag.removeprefix("--no-"))
        return Use(use.option, not use.switch) if use and use.switch is not None else None

    def _key(self, flag: str) -> Use | None:
        option = self._names.get(flag.removeprefix("--").replace("-", "_"))
        use = self._flags.get(flag)
        if option or use is None:
            return Use(option) if option else None
        return use if use.switch is False else Use(use.option)

    def _find(self, flag: str, look: Callable[[str], Use | None]) -> Use:
        missing = None
        if use := look(flag):
            return use
        for package in self._candidates(flag):
            try:
                self._load(package)
            except NotInstalled as error:
                missing = error
        if use := look(flag):
            return use
        claimed = any(package.prefix for package in self._candidates(flag))
        nearest = _nearest(flag, self._flags)
        shortened = any(near.startswith(flag) for near in nearest)
        raise Unknown(nearest, None if shortened else missing, claimed)

    def _candidates(self, flag: str) -> list[Package]:
        """The packages that may define `flag`: the one whose prefix it has, else those without a prefix."""
        claimed = [package for package in self.packages if package.prefix and flag.startswith("--" + package.prefix)]
        return claimed or [package for package in self.packages if not package.prefix]

    def _load(self, package: Package) -> tuple[Option, ...]:
        if package.name not in self._loaded:
            options = tuple(option for option in package.load() if option.name not in self._names)
            self._loaded[package.name] = options
            self._flags = _by_flag(options) | self._flags
            self._names |= {option.name: option for option in options}
        return self._loaded[package.name]


def own_options() -> tuple[Option, ...]:
    """The framework's own rows, group by group, and the launcher's spellings of Megatron-core's fields."""
    return tuple(option for group in GROUPS for option in options_of(group)) + spellings()


def _by_flag(options: Iterable[Option]) -> dict[str, Use]:
    uses: dict[str, Use] = {}
    for option in options:
        for flag in option.flags:
            uses[flag] = Use(option, True if option.kind == "bool" else None)
        for flag in option.off_flags:
            uses[flag] = Use(option, False)
    return uses


def _nearest(flag: str, flags: Iterable[str]) -> list[str]:
    flags = list(flags)
    longer = [one for one in flags if one.startswith(flag) and len(flag) > 4]
    return longer[:3] or difflib.get_close_matches(flag, flags, n=3, cutoff=0.72)
