"""Where the paths of a window live in the fork, and which of them are not upstream's to change there."""

from dataclasses import dataclass, field

from sync_tools.adopt.fork import ForkFile, ForkFiles
from sync_tools.adopt.lines import Rendered
from sync_tools.adopt.trace import Trace, Traced
from sync_tools.adopt.verdict import Excuse
from sync_tools.ci.paths import counterpart
from sync_tools.config import Config
from sync_tools.policy import OURS, policy_for
from sync_tools.translate import Translator
from sync_tools.upstream.steps import Side

GENERATED = "made again from its template"


@dataclass
class ForkPlaces:
    """`lines(side)` are the lines of an image as the fork would have them; asked for only where a file is missing."""

    trace: Trace
    files: ForkFiles
    config: Config
    translator: Translator
    rendered: dict[Side, Rendered]
    _moved: dict[int, ForkFile | None] = field(default_factory=dict)

    def place(self, path: str) -> str:
        """Where upstream's path lives in the fork."""
        return counterpart(path, self.files.tree.paths(), self.config.ci) or self.translator.path(path)

    def ours(self, traced: Traced) -> ForkFile:
        file = self.trace.files[traced.file]
        sides = (file.last, traced.change.after, traced.change.before, file.first)
        places = list(dict.fromkeys(self.place(side.path) for side in sides if side))
        found = [self.files.file(place) for place in places]
        return next((f for f in found if f.blob is not None), None) or self._went(traced) or found[0]

    def _went(self, traced: Traced) -> ForkFile | None:
        file = self.trace.files[traced.file]
        if traced.file not in self._moved:
            known = [self.rendered[side] for side in (file.last, file.first) if side in self.rendered]
            found = [self.files.moved(self.place(image.image.path), image.lines) for image in known]
            self._moved[traced.file] = next(filter(None, found), None)
        return self._moved[traced.file]

    def excuse(self, traced: Traced) -> Excuse | None:
        """Why a path of a landing is not upstream's to change."""
        return self.excused(traced.change.path)

    def excused(self, path: str) -> Excuse | None:
        """A policy of sync.toml, or that the file is generated; None for a path that upstream may change."""
        policy = policy_for(self.config, path)
        if policy and policy.action in ("skip", "owned"):
            return Excuse(policy.reason, policy.action == "owned" and policy.reason != OURS)
        return Excuse(GENERATED) if self.place(path) == self.config.ci.workflow else None
