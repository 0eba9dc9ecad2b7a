"""Upstream's tree at a revision as the fork's: names, paths, policies, the seam; in memory, before anything is written."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sync_tools.ci.paths import locate
from sync_tools.ci.render import bannered, rendering
from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.gitobjects import Entry
from sync_tools.modes import EXECUTABLE, GITLINK, REGULAR, SYMLINK
from sync_tools.paths import parents, safe
from sync_tools.policy import policy_for
from sync_tools.port.style import seam_files
from sync_tools.translate import Translator
from sync_tools.translate.pool import translate_many
from sync_tools.translate.reasons import Reason
from sync_tools.translate.result import Site, Translation
from sync_tools.tree import Blob

FAILED = "the translation of the file failed"


@dataclass(frozen=True)
class Unresolved:
    """A site of the import, at its line in upstream's file."""

    path: str
    line: int
    what: str
    why: str


@dataclass(frozen=True)
class Dropped:
    """A path of upstream's that does not come, by the policy that names it."""

    path: str
    policy: str
    reason: str


@dataclass(frozen=True)
class Tree:
    """The fork's files of one revision of upstream's, before anything is written. `unrendered` is the template that no
    workflow could be made from, if there is one."""

    commit: str
    blobs: Mapping[str, Blob]
    translations: Mapping[str, Translation]
    sources: Mapping[str, bytes]
    modes: Mapping[str, int]
    dropped: tuple[Dropped, ...]
    collisions: tuple[Unresolved, ...]
    unrendered: tuple[Unresolved, ...] = ()


def translated_tree(upstream: Repo, rev: str, config: Config, *, cache: Path | None = None, workers: int = 2) -> Tree:
    """The fork's tree of upstream's at `rev`: names, paths, policies and the seam, in memory."""
    commit = upstream.commit_of(rev)
    if commit is None:
        raise SyncError(
            "no such commit of upstream's", rev, "name a commit, branch or tag that the clone has (`git fetch` first?)"
        )
    translator = Translator(config, config.seam.style or "module", cache)
    entries = upstream.tree(commit).entries
    dropped = tuple(d for path in sorted(entries) if (d := _dropped(config, path)))
    gone = {d.path for d in dropped}
    wanted = {path: entry for path, entry in entries.items() if path not in gone}
    seam = {} if config.seam.style == "inline" else seam_files(config)
    places, collisions = _places(wanted, seam.keys(), translator, f"upstream at {commit[:12]}")
    with _workflow(upstream, wanted, places, translator) as rendered:
        sources, done = _translate(upstream, translator, wanted, workers)
        blobs = {**seam, **{place: Blob(done[path].data, wanted[path][0]) for path, place in places.items()}}
        workflow, unrendered = rendered(blobs)
    kept = {path: done[path] for path in places}
    modes = {path: mode for path, (mode, _) in wanted.items()}
    return Tree(commit, blobs | workflow, kept, sources, modes, dropped, tuple(collisions), unrendered)


def _places(
    wanted: Iterable[str], seam: Collection[str], translator: Translator, where: str
) -> tuple[dict[str, str], list[Unresolved]]:
    """Where each path of upstream's lives in the fork, and those that find their place taken. Raises SyncError for a path
    that leaves the tree, or goes through a file."""
    taken, places, collisions = set(seam), {}, []
    for path in sorted(wanted):
        place = safe(translator.path(safe(path, where)), where)
        if place in taken:
            collisions.append(
                Unresolved(path, 1, place, "another file of the import stands at this path; this one was left out")
            )
            continue
        taken.add(place)
        places[path] = place
    for place in taken:
        for parent in parents(place):
            if parent in taken:
                raise SyncError(
                    f"a path through a file or a link: {place!r}",
                    parent,
                    "name other places with [[paths]] in sync.toml",
                )
    return places, collisions


Rendered = Callable[[Mapping[str, Blob]], tuple[dict[str, Blob], tuple[Unresolved, ...]]]


@contextmanager
def _workflow(
    upstream: Repo, wanted: Mapping[str, Entry], places: Mapping[str, str], translator: Translator
) -> Iterator[Rendered]:
    """The workflow made from the translated template, as a port makes it again; it is rendered while all else is read.
    What is yielded takes the other files. A template that cannot be rendered is left as it is, and upstream's workflow
    with it: that is for a person."""
    ci = translator.config.ci
    at = locate(places.values(), ci)
    regular = (
        path for path, place in places.items() if place == at.template and wanted[path][0] in (REGULAR, EXECUTABLE)
    )
    source = next(regular, None)
    if at.template is None or source is None:
        yield lambda blobs: ({}, ())
        return
    place, template = at.template, Attempt(translator)(source, upstream.read(wanted[source][1])).data
    with rendering(template, place) as output:

        def rendered(blobs: Mapping[str, Blob]) -> tuple[dict[str, Blob], tuple[Unresolved, ...]]:
            try:
                body = output()
            except SyncError as e:
                return {}, (Unresolved(source, 1, place, f"{e.what}; the workflow is not made from it"),)
            standing = blobs.get(at.workflow)
            text = bannered(body, place, standing.data if standing else None, ci.banner)
            return {at.workflow: Blob(text, standing.mode if standing else REGULAR)}, ()

        yield rendered


def _dropped(config: Config, path: str) -> Dropped | None:
    """What keeps a path away: not wanted, or the fork's own. Neither comes from upstream."""
    policy = policy_for(config, path)
    return Dropped(path, policy.match, policy.reason) if policy and policy.action in ("skip", "owned") else None


@dataclass(frozen=True)
class Attempt:
    """Translation that never raises: a file that cannot be translated is carried as it is, with a site that says so."""

    translator: Translator

    def __call__(self, path: str, data: bytes) -> Translation:
        try:
            return self.translator.file(path, data)
        except Exception as e:
            # One file must not keep six hundred others from being imported.
            return Translation(data, (), (Site(1, 1, 1, FAILED, f"{type(e).__name__}: {e}", Reason.PROVENANCE),))


def _translate(
    upstream: Repo, translator: Translator, entries: Mapping[str, Entry], workers: int
) -> tuple[dict[str, bytes], dict[str, Translation]]:
    """The bytes of all files, and their translations: git reads on while the cache is asked for what was read."""
    sources: dict[str, bytes] = {}
    regular = [path for path, (mode, _) in entries.items() if mode not in (SYMLINK, GITLINK)]

    def read() -> Iterator[tuple[str, bytes]]:
        for path, data in zip(regular, upstream.stream([entries[path][1] for path in regular]), strict=True):
            sources[path] = data
            yield path, data

    done = translate_many(Attempt(translator), read(), workers, known=translator.known)
    for path, (mode, oid) in entries.items():
        if mode == GITLINK:
            sources[path] = oid.encode()
            done[path] = Translation(sources[path])
        elif mode == SYMLINK:
            sources[path] = upstream.read(oid)
            done[path] = Translation(os.fsencode(translator.path(os.fsdecode(sources[path]))))
    return sources, done
