"""The whole of upstream after a change as the fork would have it: translated file by file, as it is asked for."""

from dataclasses import dataclass, field
from functools import cached_property

from sync_tools.policy import policy_for
from sync_tools.port.file import Setting, translate_image
from sync_tools.tree import Blob, Tree
from sync_tools.upstream.changeset import Image


@dataclass(frozen=True)
class TranslatedTree:
    """What upstream has beside what a policy keeps out of the fork, or puts into another file of it."""

    source: Tree
    setting: Setting
    _done: dict[str, Blob | None] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _places(self) -> dict[str, str]:
        """The fork's path -> upstream's."""
        config, place = self.setting.config, self.setting.translator.path
        return {place(path): path for path in sorted(self.source.paths()) if policy_for(config, path) is None}

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(self._places)

    def paths(self) -> frozenset[str]:
        return self._paths

    def blob(self, path: str) -> Blob | None:
        if path not in self._done:
            self._done[path] = self._translated(self._places[path]) if path in self._places else None
        return self._done[path]

    def _translated(self, path: str) -> Blob | None:
        blob = self.source.blob(path)
        if blob is None:
            return None
        translation = translate_image(Image(path, blob.mode, blob.data), self.setting)
        return Blob(translation.data, blob.mode) if translation else None
