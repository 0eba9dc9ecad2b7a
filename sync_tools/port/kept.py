"""What one port of a run leaves to the next one, so that a stack pays once for what its changes share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.ledger.shelf import Shelf
from sync_tools.ledger.supersede import Succession
from sync_tools.port.fork import Fork, Removal
from sync_tools.port.past import History
from sync_tools.translate import Translator
from sync_tools.tree import Blob
from sync_tools.upstream.mainline import MainLine
from sync_tools.verify.source import Sources


@dataclass(frozen=True)
class Kept:
    """Parsed ledgers, parsed files, and translators; all are functions of what they are asked, so that nothing of a port
    shows in another."""

    shelf: Shelf = field(default_factory=Shelf)
    sources: Sources = field(default_factory=Sources)
    _translators: dict[str, Translator] = field(default_factory=dict)
    _removals: dict[str, Removal | None] = field(default_factory=dict)
    _successions: dict[Path, Succession] = field(default_factory=dict)
    _pasts: dict[Path, History] = field(default_factory=dict)

    def translator(self, config: Config, style: str, cache: Path | None) -> Translator:
        """The translator of a seam style; a run has one configuration and one cache."""
        if style not in self._translators:
            self._translators[style] = Translator(config, style, cache)
        return self._translators[style]

    def succession(self, upstream: Repo) -> Succession:
        """Upstream's main line, as succession asks for it."""
        if upstream.git_dir not in self._successions:
            line = self.past(upstream).line
            self._successions[upstream.git_dir] = Succession(line.position, line.between)
        return self._successions[upstream.git_dir]

    def past(self, upstream: Repo) -> History:
        """Upstream's history, as reverts ask for it."""
        if upstream.git_dir not in self._pasts:
            self._pasts[upstream.git_dir] = History(MainLine(upstream))
        return self._pasts[upstream.git_dir]

    def removal(self, path: str, fork: Fork, tip: str) -> Removal | None:
        """`Fork.removed_by`, which walks the fork's history: asked once for a path until a port removes something."""
        if path not in self._removals:
            self._removals[path] = fork.removed_by(path, tip)
        return self._removals[path]

    def committed(self, edits: Mapping[str, Blob | None]) -> None:
        """A port changed the fork."""
        if None in edits.values():
            self._removals.clear()
