"""Where upstream is read from: a local repository in place, or the bare mirror that `sync fetch` made of a URL."""

import hashlib
import os
import re
import shutil
from pathlib import Path

from sync_tools.config import Config
from sync_tools.errors import SyncError
from sync_tools.files import alone
from sync_tools.gitio import GitFailed, Repo
from sync_tools.terminal import without_secrets

URL = re.compile(r"^([A-Za-z][\w+.-]*://|[\w.-]+@[\w.-]+:)")


def is_url(location: str) -> bool:
    return bool(URL.match(location))


def cache_dir() -> Path:
    """The user's cache folder of this program (`XDG_CACHE_HOME`, else ~/.cache)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vime-sync"


def mirror_path(url: str) -> Path:
    """Where the mirror of a URL lives; the digest keeps two URLs of one name apart."""
    name = (
        re.sub(r"[^\w.-]+", "-", url.split("?")[0].rstrip("/").removesuffix(".git").rsplit("/", 1)[-1].rsplit("@")[-1])
        or "upstream"
    )
    return cache_dir() / "mirrors" / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:12]}.git"


def default_location(config: Config) -> str:
    return os.environ.get("SYNC_UPSTREAM") or f"https://github.com/{config.upstream.repo}.git"


def anywhere(location: str) -> str:
    """The location as it can be named from any folder."""
    return location if is_url(location) else str(Path(location).expanduser().resolve())


def open_upstream(location: str | None, config: Config) -> Repo:
    """Upstream as a repository. Raises SyncError when it is not there, or was never fetched."""
    place = location or default_location(config)
    if not is_url(place):
        return Repo.open(Path(place).expanduser())
    path = mirror_path(place)
    if not path.is_dir():
        raise SyncError(
            "no mirror of upstream yet",
            without_secrets(place),
            f"run `vime-sync fetch{_named(location)}` first, or name a clone with --upstream",
        )
    return Repo.open(path)


def fetch(location: str, *, into: Path | None = None) -> Path:
    """Make or update the bare mirror of `location`; its path. An interrupted first clone leaves nothing behind."""
    target = into or mirror_path(location)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with alone(target.parent):
            if target.is_dir():
                Repo.open(target).run("fetch", "--prune", "--quiet", "--tags", location, "+refs/heads/*:refs/heads/*")
                return target
            scratch = target.with_name(f"{target.name}.part")
            shutil.rmtree(scratch, ignore_errors=True)  # of a fetch that was killed
            try:
                # The parent folder is no repository; git needs only a place to start from.
                Repo(target.parent, target.parent).run("clone", "--bare", "--quiet", "--", location, str(scratch))
                scratch.rename(target)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
            return target
    except GitFailed as e:
        said = without_secrets(_cause(e.stderr))
        raise SyncError(
            f"cannot fetch upstream: {said}", without_secrets(location), "check the address and your access"
        ) from e


def _named(location: str | None) -> str:
    return f" --upstream {without_secrets(location)}" if location else ""


def _cause(stderr: str) -> str:
    """What git says went wrong: its first complaint, the others follow from it."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return next(
        (line for line in lines if re.match(r"(remote: )?(fatal|error):", line)), lines[-1] if lines else "git failed"
    )
