"""The dicts that a module makes, and what it keeps in objects of its own classes."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from sync_tools.translate.python.lattice import NOTHING, UNKNOWN, Value, dicts, join

Use = Literal["write", "read", "default"]


class KeyUse(NamedTuple):
    """A constant key at a node (a string, or a keyword argument); `alone` when nothing but tracked dicts is meant."""

    key: str
    node: int
    use: Use
    alone: bool


@dataclass
class Site:
    """A dict made at one place.

    outside: it also holds what came from elsewhere; early: some of that may have come after a key was written;
    dynamic: its keys are computed or listed; leaves: something that we do not see may read it.
    """

    node: int
    group: int
    fields: dict[str, Value] = field(default_factory=dict)
    rest: Value = NOTHING
    outside: bool = False
    early: bool = False
    dynamic: bool = False
    leaves: bool = False
    roles: set[str] = field(default_factory=set)


class Heap:
    """Grows only; `changes` counts how often it has grown."""

    def __init__(self) -> None:
        self.sites: dict[int, Site] = {}
        self.uses: dict[int, set[KeyUse]] = {}
        self.attributes: dict[tuple[int, str], Value] = {}
        self.changes = 0

    def site(self, node: int) -> Site:
        if node not in self.sites:
            self.sites[node] = Site(node, group=node)
            self.changes += 1
        return self.sites[node]

    def write(self, site: int, key: str, value: Value) -> None:
        fields = self.sites[site].fields
        grown = join(fields.get(key, NOTHING), value)
        if grown != fields.get(key):
            fields[key] = grown
            self.changes += 1

    def write_any(self, site: int, value: Value) -> None:
        grown = join(self.sites[site].rest, value)
        if grown != self.sites[site].rest:
            self.sites[site].rest = grown
            self.changes += 1

    def read(self, site: int, key: str) -> Value:
        """What the key may hold; the empty value when it is not there."""
        found = self.sites[site]
        values = join(found.fields.get(key, NOTHING), found.rest)
        return join(values, UNKNOWN) if found.outside else values

    def copy(self, source: int, target: int) -> None:
        """Everything of `source` is also in `target`; a key means the same in both."""
        old, new = self.sites[source], self.sites[target]
        for key, value in old.fields.items():
            self.write(target, key, value)
        self.write_any(target, old.rest)
        self.mark(target, outside=old.outside)
        self._unite(source, target)
        new.roles |= old.roles

    def mark(self, site: int, **flags: bool) -> None:
        found = self.sites[site]
        for name, on in flags.items():
            if on and not getattr(found, name):
                setattr(found, name, True)
                self.changes += 1

    def use(self, sites: list[int], use: KeyUse) -> None:
        for site in sites:
            self.uses.setdefault(site, set()).add(use)

    def let_go(self, value: Value) -> None:
        """The value, and all that it holds, goes where we do not see it."""
        for site in dicts(value):
            if not self.sites[site].leaves:
                self.mark(site, leaves=True)
                for held in self.sites[site].fields.values():
                    self.let_go(held)

    def attribute(self, cls: int, name: str) -> Value:
        return self.attributes.get((cls, name), NOTHING)

    def set_attribute(self, cls: int, name: str, value: Value) -> None:
        grown = join(self.attribute(cls, name), value)
        if grown != self.attribute(cls, name):
            self.attributes[cls, name] = grown
            self.changes += 1

    def groups(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for site in sorted(self.sites):
            found.setdefault(self._root(site), []).append(site)
        return found

    def _unite(self, a: int, b: int) -> None:
        low, high = sorted((self._root(a), self._root(b)))
        if low != high:
            self.sites[high].group = low
            self.changes += 1

    def _root(self, site: int) -> int:
        while self.sites[site].group != site:
            site = self.sites[site].group
        return site
