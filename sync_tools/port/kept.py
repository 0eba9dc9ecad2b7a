"""What one port of a run leaves to the next one, so that a stack pays once for what its changes share."""

from dataclasses import dataclass, field
from pathlib import Path

from sync_tools.config import Config
from sync_tools.ledger.shelf import Shelf
from sync_tools.translate import Translator
from sync_tools.verify.source import Sources


@dataclass(frozen=True)
class Kept:
    """Parsed ledgers, parsed files, and translators; all are functions of what they are asked, so that nothing of a port
    shows in another."""

    shelf: Shelf = field(default_factory=Shelf)
    sources: Sources = field(default_factory=Sources)
    _translators: dict[str, Translator] = field(default_factory=dict)

    def translator(self, config: Config, style: str, cache: Path | None) -> Translator:
        """The translator of a seam style; a run has one configuration and one cache."""
        if style not in self._translators:
            self._translators[style] = Translator(config, style, cache)
        return self._translators[style]
