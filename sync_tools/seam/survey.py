"""Every seam site of an upstream tree with its verdict."""

from collections.abc import Mapping
from pathlib import Path

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.modes import GITLINK, SYMLINK
from sync_tools.policy import policy_for
from sync_tools.seam.judge import Image, judge
from sync_tools.seam.model import Seen
from sync_tools.translate import Translator
from sync_tools.translate.kinds import profile
from sync_tools.translate.result import Translation

KEPT = "the file keeps its text"


def survey(sources: Mapping[str, bytes], config: Config, *, cache: Path | None = None, workers: int = 2) -> Seen:
    """The sites of the files and what the translator makes of them."""
    translator = Translator(config, config.seam.style or "module", cache)
    wanted = {path: data for path, data in sources.items() if not _why_kept(path, config)}
    done = translator.files(wanted.items(), workers)
    judged, unseen = [], []
    for path, data in sorted(sources.items()):
        translation = done.get(path) or Translation(data)
        verdicts, others = judge(
            Image(path, data, translation, _why_kept(path, config), speaks=not _left_out(path, config))
        )
        judged += verdicts
        unseen += others
    return Seen(tuple(judged), tuple(unseen), len(sources))


def _left_out(path: str, config: Config) -> bool:
    policy = policy_for(config, path)
    return policy is not None and policy.action == "skip"


def _why_kept(path: str, config: Config) -> str:
    policy = policy_for(config, path)
    if policy is not None and policy.action in ("skip", "owned"):
        return f"{'dropped' if policy.action == 'skip' else 'owned'} by policy: {policy.reason}"
    return KEPT if profile(path, engine=config.engine != "same").kept else ""


def of_revision(repo: Repo, rev: str) -> dict[str, bytes]:
    """The files of a revision. Raises SyncError where there is no such commit."""
    commit = repo.commit_of(rev)
    if commit is None:
        raise SyncError("no such commit of upstream's", rev, "name a commit, branch or tag that the clone has")
    tree = repo.tree(commit)
    return {path: repo.read(oid) for path, (mode, oid) in tree.entries.items() if mode not in (GITLINK, SYMLINK)}


def of_folder(folder: Path) -> dict[str, bytes]:
    """The files below a folder, without git's own. Raises SyncError where there is no such folder."""
    if not folder.is_dir():
        raise SyncError("no such folder", str(folder), "name a tree of upstream's, or a revision with --at")
    found = (p for p in sorted(folder.rglob("*")) if p.is_file() and not p.is_symlink() and ".git" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}
