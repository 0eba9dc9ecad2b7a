"""Upstream's tree at a revision as the fork's: names, paths, policies, the seam; in memory, before anything is written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sync_tools.ci.paths import locate
from sync_tools.ci.render import workflow
from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.modes import GITLINK, REGULAR, SYMLINK
from sync_tools.paths import safe
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
    """The fork's files of one revision of upstream's, before anything is written."""

    commit: str
    blobs: Mapping[str, Blob]
    translations: Mapping[str, Translation]
    sources: Mapping[str, bytes]
    modes: Mapping[str, int]
    dropped: tuple[Dropped, ...]
    collisions: tuple[Unresolved, ...]


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
    sources = _read(upstream, wanted)
    done = _translate(translator, wanted, sources, workers)
    blobs: dict[str, Blob] = {} if config.seam.style == "inline" else dict(seam_files(config))
    collisions = []
    for path in sorted(wanted):
        place = safe(translator.path(safe(path, f"upstream at {commit[:12]}")), f"upstream at {commit[:12]}")
        if place in blobs:
            collisions.append(
                Unresolved(path, 1, place, "another file of the import stands at this path; this one was left out")
            )
            continue
        blobs[place] = Blob(done[path].data, wanted[path][0])
    _refuse_files_as_folders(blobs)
    blobs |= _workflow(blobs, config)
    kept = {path: done[path] for path in wanted if path not in {c.path for c in collisions}}
    modes = {path: mode for path, (mode, _) in wanted.items()}
    return Tree(commit, blobs, kept, sources, modes, dropped, tuple(collisions))


def _workflow(blobs: Mapping[str, Blob], config: Config) -> dict[str, Blob]:
    """The workflow made from the translated template, as a port makes it again."""
    paths = locate(blobs.keys(), config.ci)
    if paths.template is None:
        return {}
    standing = blobs.get(paths.workflow)
    text = workflow(blobs[paths.template].data, paths.template, standing.data if standing else None, config.ci.banner)
    return {paths.workflow: Blob(text, standing.mode if standing else REGULAR)}


def _dropped(config: Config, path: str) -> Dropped | None:
    """What keeps a path away: not wanted, or the fork's own. Neither comes from upstream."""
    policy = policy_for(config, path)
    return Dropped(path, policy.match, policy.reason) if policy and policy.action in ("skip", "owned") else None


def _read(upstream: Repo, entries: Mapping[str, tuple[int, str]]) -> dict[str, bytes]:
    """The bytes of all files, by one `git cat-file`."""
    files = [(path, oid) for path, (mode, oid) in entries.items() if mode != GITLINK]
    out = upstream.run("cat-file", "--batch", data="".join(f"{oid}\n" for _, oid in files).encode())
    found, at = {path: oid.encode() for path, (mode, oid) in entries.items() if mode == GITLINK}, 0
    for path, _ in files:
        end = out.index(b"\n", at)
        size = int(out[at:end].split()[2])
        found[path] = out[end + 1 : end + 1 + size]
        at = end + 2 + size
    return found


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
    translator: Translator, entries: Mapping[str, tuple[int, str]], sources: Mapping[str, bytes], workers: int
) -> dict[str, Translation]:
    regular = [(path, sources[path]) for path, (mode, _) in entries.items() if mode not in (SYMLINK, GITLINK)]
    done = translate_many(Attempt(translator), regular, workers, known=translator.known)
    for path, (mode, _) in entries.items():
        if mode == GITLINK:
            done[path] = Translation(sources[path])
        elif mode == SYMLINK:
            done[path] = Translation(os.fsencode(translator.path(os.fsdecode(sources[path]))))
    return done


def _refuse_files_as_folders(blobs: Mapping[str, Blob]) -> None:
    for path in blobs:
        for parent in PurePosixPath(path).parents:
            if str(parent) in blobs:
                raise SyncError(
                    f"a path through a file or a link: {path!r}",
                    str(parent),
                    "name other places with [[paths]] in sync.toml",
                )
