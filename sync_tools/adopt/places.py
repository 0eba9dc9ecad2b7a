"""Where the paths of a window live in the fork, and which of them are not upstream's to change there."""

from dataclasses import dataclass, field

from sync_tools.adopt.fork import ForkFile, ForkFiles
from sync_tools.adopt.lines import Rendered
from sync_tools.adopt.trace import File, Trace, Traced
from sync_tools.adopt.verdict import Excuse
from sync_tools.ci.paths import counterpart
from sync_tools.config import Config
from sync_tools.policy import OURS, policy_for
from sync_tools.translate import Translator
from sync_tools.upstream.patch import Side

GENERATED = "made again from its template"


@dataclass
class ForkPlaces:
    """`lines(side)` are the lines of an image as the fork would have them; asked for only where a file is missing."""

    trace: Trace
    files: ForkFiles
    config: Config
    translator: Translator
    rendered: dict[Side, Rendered]
    _ours: dict[int, ForkFile] = field(default_factory=dict)

    def place(self, path: str) -> str:
        """Where upstream's path lives in the fork."""
        return counterpart(path, self.files.tree.paths(), self.config.ci) or self.translator.path(path)

    def ours(self, traced: Traced) -> ForkFile:
        """Under one of the paths that the file had, else where the fork moved it. Upstream may have moved another file to a
        path of this one, so where several stand it is the one that is most like it."""
        if traced.file not in self._ours:
            self._ours[traced.file] = self._find(self.trace.files[traced.file])
        return self._ours[traced.file]

    def _find(self, file: File) -> ForkFile:
        places = list(dict.fromkeys(map(self.place, reversed(file.paths))))
        found = [here for here in map(self.files.file, places) if here.blob is not None]
        images = [self.rendered[side] for side in (file.last, file.first) if side in self.rendered]
        if len(found) > 1:
            return max(found, key=lambda here: max((_shared(here, image) for image in images), default=0.0))
        moved = (self.files.moved(self.place(image.image.path), image.lines) for image in images)
        return found[0] if found else next(filter(None, moved), None) or self.files.file(places[0])

    def excuse(self, traced: Traced) -> Excuse | None:
        """Why a path of a landing is not upstream's to change."""
        return self.excused(traced.change.path)

    def excused(self, path: str) -> Excuse | None:
        """A policy of sync.toml, or that the file is generated; None for a path that upstream may change."""
        policy = policy_for(self.config, path)
        if policy and policy.action in ("skip", "owned"):
            return Excuse(policy.reason, policy.action == "owned" and policy.reason != OURS)
        return Excuse(GENERATED) if self.place(path) == self.config.ci.workflow else None


def _shared(here: ForkFile, image: Rendered) -> float:
    """The share of an image's lines that a file has."""
    return sum((here.bag & image.bag).values()) / max(len(image.lines), 1)
