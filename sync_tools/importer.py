"""`sync import`: a whole tree of upstream's, translated, as a git repository with one commit (or as files of one that is there)."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sync_tools.ci.paths import locate
from sync_tools.ci.render import workflow
from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.imported import new_repository, write_files
from sync_tools.modes import GITLINK, REGULAR, SYMLINK
from sync_tools.paths import safe
from sync_tools.policy import policy_for
from sync_tools.port.style import seam_files
from sync_tools.translate import Translator, rules
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
class Imported:
    """What an import did. `files` of upstream's were written: translated, identical or (as they were) failed.

    `commit` is None where the files were written into a repository that was there. `unused_rules` are the codes of the
    rules that applied nowhere.
    """

    upstream_commit: str
    files: int
    translated: int
    identical: int
    dropped: int
    failed: int
    unresolved: tuple[Unresolved, ...]
    seconds: float
    commit: str | None
    unused_rules: tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """The fork's files of one revision of upstream's, before anything is written."""

    commit: str
    blobs: Mapping[str, Blob]
    translations: Mapping[str, Translation]
    sources: Mapping[str, bytes]
    dropped: int
    collisions: tuple[Unresolved, ...]


def import_tree(
    upstream: Repo, rev: str, to: Path, config: Config, *, cache: Path | None = None, workers: int = 2
) -> Imported:
    """Translate upstream at `rev` into `to`. Raises SyncError, with nothing written, for a bad revision, path or target."""
    began = time.monotonic()
    tree = translated_tree(upstream, rev, config, cache=cache, workers=workers)
    commit = _write(to, tree, config)
    failed = {path for path, t in tree.translations.items() if any(s.what == FAILED for s in t.unresolved)}
    changed = {p for p, t in tree.translations.items() if t.data != tree.sources[p]} - failed
    sites = [Unresolved(p, s.line, s.what, s.why) for p, t in sorted(tree.translations.items()) for s in t.unresolved]
    return Imported(
        upstream_commit=tree.commit,
        files=len(tree.translations),
        translated=len(changed),
        identical=len(tree.translations) - len(changed) - len(failed),
        dropped=tree.dropped,
        failed=len(failed) + len(tree.collisions),
        unresolved=(*sites, *tree.collisions),
        seconds=round(time.monotonic() - began, 3),
        commit=commit,
        unused_rules=unused_rules(tree.translations.values(), config),
    )


def translated_tree(upstream: Repo, rev: str, config: Config, *, cache: Path | None = None, workers: int = 2) -> Tree:
    """The fork's tree of upstream's at `rev`: names, paths, policies and the seam, in memory."""
    commit = upstream.commit_of(rev)
    if commit is None:
        raise SyncError(
            "no such commit of upstream's", rev, "name a commit, branch or tag that the clone has (`git fetch` first?)"
        )
    translator = Translator(config, config.seam.style or "module", cache)
    entries = upstream.tree(commit).entries
    wanted = {p: entry for p, entry in entries.items() if not _skipped(config, p)}
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
    return Tree(commit, blobs, kept, sources, len(entries) - len(wanted), tuple(collisions))


def _workflow(blobs: Mapping[str, Blob], config: Config) -> dict[str, Blob]:
    """The workflow made from the translated template, as a port makes it again."""
    paths = locate(blobs.keys(), config.ci)
    if paths.template is None:
        return {}
    standing = blobs.get(paths.workflow)
    text = workflow(blobs[paths.template].data, paths.template, standing.data if standing else None, config.ci.banner)
    return {paths.workflow: Blob(text, standing.mode if standing else REGULAR)}


def unused_rules(translations: Iterable[Translation], config: Config) -> tuple[str, ...]:
    """The rules with examples that applied nowhere; those of another engine or of absent configuration don't count."""
    used = {a.rule for t in translations for a in t.applications}
    engine = config.engine != "same"
    return tuple(
        r.code for r in rules.all_rules() if r.examples and r.code not in used and (engine or r.code == "SY201")
    )


def _skipped(config: Config, path: str) -> bool:
    """Dropped by policy, or the fork's own: neither comes from upstream."""
    policy = policy_for(config, path)
    return policy is not None and policy.action in ("skip", "owned")


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
    done = translate_many(Attempt(translator), regular, workers)
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


def _write(to: Path, tree: Tree, config: Config) -> str | None:
    """The new repository's commit; None where the files were written into a repository that is there."""
    if _lies_in_repository(to):
        write_files(to, tree.blobs)
        return None
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise SyncError("the folder is not empty", str(to), "name a new folder with --to")
    subject = f"Import {config.upstream.repo}@{tree.commit[:12]}"
    return new_repository(to, tree.blobs, subject, {"Upstream-Commit": tree.commit})


def _lies_in_repository(to: Path) -> bool:
    """Whether the nearest folder that is there, at or above `to`, belongs to a work tree."""
    here = to.absolute()
    nearest = next(place for place in (here, *here.parents) if place.is_dir())
    try:
        return Repo.open(nearest).work_tree is not None
    except SyncError:
        return False
