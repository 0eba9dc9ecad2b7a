"""Translation of upstream's files into the fork's names and engine: a pure function of text, path and rules."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import resources
from pathlib import Path

from sync_tools.config import Config
from sync_tools.translate import rules
from sync_tools.translate.cache import Cache
from sync_tools.translate.engine import Settings, translate_bytes
from sync_tools.translate.kinds import Profile, profile
from sync_tools.translate.names import naming
from sync_tools.translate.paths import downstream_path
from sync_tools.translate.pool import translate_many
from sync_tools.translate.result import Translation


@dataclass(frozen=True)
class Translator:
    """Translates the files of one upstream for one fork.

    `style` is the seam's (`module`, `vendor` or `inline`). For every path and bytes: the same in gives the same out, a
    translated file comes back unchanged (under the old path and the new one), and so does one that holds nothing to
    translate. `cache` names a folder that several processes may share.
    """

    config: Config = field(default_factory=Config)
    style: str = "module"
    cache: Path | None = None
    _recent: dict[tuple[Profile, bytes], Translation] = field(default_factory=dict, repr=False, compare=False)

    def file(self, path: str, data: bytes) -> Translation:
        """The translation of the file that stands at upstream's `path`."""
        where = profile(path, engine=self.settings.naming.engine)
        found = self._recent.pop((where, data), None) or self.known(path, data) or self._translated(where, data)
        self._recent[where, data] = found
        if len(self._recent) > RECENT:
            del self._recent[next(iter(self._recent))]
        return found

    def _translated(self, where: Profile, data: bytes) -> Translation:
        found = translate_bytes(data, where, self.settings)
        if self._store is not None:
            self._store.put(self._store.key(where, data), found)
        return found

    def known(self, path: str, data: bytes) -> Translation | None:
        """The translation if the cache has it: much cheaper to ask for than a process that would find it there."""
        if self._store is None:
            return None
        return self._store.get(self._store.key(profile(path, engine=self.settings.naming.engine), data))

    def path(self, path: str) -> str:
        """Where upstream's `path` lives in the fork."""
        return downstream_path(self.config, path)

    def files(self, items: Iterable[tuple[str, bytes]], workers: int = 2) -> Mapping[str, Translation]:
        """The translations of many files, by path; over `workers` processes where there is enough to do."""
        return translate_many(self.file, list(items), workers, known=self.known)

    @cached_property
    def _store(self) -> Cache | None:
        return Cache(self.cache, self.digest) if self.cache else None

    @cached_property
    def settings(self) -> Settings:
        return Settings(naming(self.config), self.style, self.config.seam.module, self.config.size_limit)

    @cached_property
    def digest(self) -> str:
        """What a cached translation depends on: the rules, and the seam's style."""
        return hashlib.sha256(f"{self.style} {rules_digest(self.config)}".encode()).hexdigest()


def rules_digest(config: Config) -> str:
    """Of the rules as data and as code, and of what matters to them of a configuration."""
    return hashlib.sha256(f"{config.model_dump(include=DEPENDS)!r} {_sources_digest()}".encode()).hexdigest()


@lru_cache(maxsize=1)
def _sources_digest() -> str:
    found = hashlib.sha256()
    for name in rules.table_names():
        found.update(rules.source_of(name))
    for source in sorted(Path(str(resources.files(__name__))).rglob("*.py")):
        found.update(source.read_bytes())
    return found.hexdigest()


RECENT = 1024  # translations kept in memory: a change's files, and what a stack of changes asks for again and again
DEPENDS = {"upstream": {"repo"}, "engine": True, "names": True, "repositories": True, "seam": True, "size_limit": True}
