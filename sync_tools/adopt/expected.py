"""What each file of the fork would be if the fork had done nothing but take what it shows to have of upstream.

That is the import at the cutoff, with those later changes of a file on top that stand in the fork. They are nearly always
the first ones; where the fork skipped one in between, the later ones are merged over the gap, as ports would have been.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

from sync_tools.adopt.images import Images
from sync_tools.adopt.survey import Survey
from sync_tools.adopt.verdict import ENOUGH, PathVerdict, Verdict
from sync_tools.ci.port import port_template
from sync_tools.config import Config
from sync_tools.merge.file import merge_file
from sync_tools.policy import policy_for
from sync_tools.port.images import TEMPLATE, matrix_name
from sync_tools.tree import Blob
from sync_tools.upstream.patch import FileDiff, Side

HAS = ("landed", "superseded")


@dataclass(frozen=True)
class Expected:
    """A file of upstream's, at its `path` in the fork. `blobs` are what may stand there without being a difference, the
    likeliest first."""

    upstream: str
    path: str
    blobs: tuple[Blob, ...]


@dataclass(frozen=True)
class _Chain:
    """A file's image at the cutoff (None: it was not there) and its changes that the fork has, with whether any is missing
    before each one."""

    first: Side | None
    applied: tuple[FileDiff, ...]
    whole: int

    @property
    def start(self) -> Side | None:
        """After the changes that came without a gap."""
        return self.applied[self.whole - 1].after if self.whole else self.first

    @property
    def rest(self) -> tuple[FileDiff, ...]:
        return self.applied[self.whole :]

    @property
    def last(self) -> Side | None:
        return self.applied[-1].after if self.applied else self.first

    @property
    def sides(self) -> set[Side]:
        changed = {side for change in self.applied for side in (change.before, change.after)}
        return {side for side in {self.first, self.start, *changed} if side is not None}


def expected(
    survey: Survey, images: Images, config: Config, only: Callable[[str], bool] = lambda _: True
) -> tuple[Expected, ...]:
    """One for each file of upstream's that the fork should have, of those whose path in the fork is asked for."""
    entries = images.upstream.tree(survey.window.cutoff).entries
    cutoff = {path: Side(path, mode, oid) for path, (mode, oid) in entries.items()}
    chains = [c for c in _chains(survey, cutoff) if c.last is not None and not survey.places.excused(c.last.path)]
    own = {survey.places.translator.path(c.last.path) for c in chains if c.last and not _into(config, c.last.path)}
    chains = [c for c in chains if c.last and _into(config, c.last.path) not in own]
    chains = [c for c in chains if c.last and only(survey.places.place(c.last.path))]
    sides = {side for chain in chains for side in chain.sides} - survey.places.rendered.keys()
    survey.places.rendered.update(images.rendered(sides))
    return tuple(_expected(chain, survey) for chain in chains)


def _into(config: Config, path: str) -> str | None:
    policy = policy_for(config, path)
    return policy.into if policy else None


def _chains(survey: Survey, cutoff: dict[str, Side]) -> Iterable[_Chain]:
    changes: dict[int, list[tuple[FileDiff, bool]]] = {}
    for step, verdict in zip(survey.trace.steps, survey.verdicts, strict=True):
        for traced, path in zip(step, verdict.paths, strict=True):
            changes.setdefault(traced.file, []).append((traced.change, _has(path, verdict)))
    touched = {file.first.path for file in survey.trace.files if file.first}
    for path, side in cutoff.items():
        if path not in touched:
            yield _Chain(side, (), 0)
    for number, each in changes.items():
        whole = next((n for n, (_, has) in enumerate(each) if not has), len(each))
        yield _Chain(survey.trace.files[number].first, tuple(change for change, has in each if has), whole)


def _has(path: PathVerdict, verdict: Verdict) -> bool:
    """Whether the fork has a landing's change of one path, or most of it: what it lacks then is a difference. Where no line
    of the path tells, it is like the rest of the landing."""
    if verdict.state == "partly":
        return not path.weak and path.total.share >= ENOUGH
    return verdict.state in HAS


def _expected(chain: _Chain, survey: Survey) -> Expected:
    assert chain.last is not None
    rendered = survey.places.rendered
    path = survey.places.place(chain.last.path)
    data = rendered[chain.start].translation.data if chain.start else b""
    merged = reduce(lambda ours, change: _merged(path, change, ours, survey), chain.rest, data)
    others = [rendered[side].translation.data for side in sorted(chain.sides)]
    blobs = tuple(Blob(each, chain.last.mode) for each in dict.fromkeys([merged, *others]))
    return Expected(chain.last.path, path, blobs)


def _merged(path: str, change: FileDiff, ours: bytes, survey: Survey) -> bytes:
    """A later change over a gap, as a port makes it; one that does not fit leaves the file as it is, and shows as a
    difference."""
    rendered = survey.places.rendered
    if change.after is None:
        return ours
    if path.endswith(TEMPLATE):
        return _template(change, ours, survey)
    base = rendered[change.before].translation.data if change.before else None
    merge = merge_file(path, base, ours, rendered[change.after].translation.data)
    return ours if merge.conflicts else merge.final


def _template(change: FileDiff, ours: bytes, survey: Survey) -> bytes:
    """Rows go into the matrix by meaning."""
    places, images = survey.places, [survey.places.rendered[side] for side in (change.before, change.after) if side]
    translated = {image.image.data: image.translation.data for image in images}
    before, after = (side and places.rendered[side].image.data for side in (change.before, change.after))
    ported = port_template(
        before,
        after,
        ours,
        rename=lambda name: matrix_name(name, places.config, places.translator),
        translate=lambda data: translated[data],
        merge=merge_file,
        places=places.config.ci.places,
    )
    return ours if ported.conflicts or ported.data is None else ported.data
