"""Translations on disk, keyed by content and rules, so that a history is not translated again and again.

Processes may share the folder: an entry is written under another name and renamed into place, and one that cannot be read, or
whose digest is not its own, is as good as none.
"""

import contextlib
import hashlib
import json
import os
from dataclasses import astuple, dataclass
from pathlib import Path

from sync_tools.translate.kinds import Profile
from sync_tools.translate.reasons import Reason
from sync_tools.translate.result import Application, Site, Translation


@dataclass(frozen=True)
class Cache:
    """A folder of translations made with one set of rules and one configuration (`digest`)."""

    folder: Path
    digest: str

    def key(self, profile: Profile, data: bytes) -> str:
        return hashlib.sha256(f"{self.digest} {profile.kind} {profile.kept} ".encode() + data).hexdigest()

    def get(self, key: str) -> Translation | None:
        """The entry, or None where there is none that is whole."""
        try:
            return _load(self._path(key).read_bytes())
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put(self, key: str, translation: Translation) -> None:
        """Keep a translation; a folder that cannot be written is no error."""
        path = self._path(key)
        scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            scratch.write_bytes(_dump(translation))
            scratch.replace(path)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / key[2:]


def _dump(translation: Translation) -> bytes:
    notes = json.dumps(
        [[astuple(a) for a in translation.applications], [astuple(s) for s in translation.unresolved]]
    ).encode()
    body = b"%d\n%b%b" % (len(notes), notes, translation.data)
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def _load(entry: bytes) -> Translation:
    digest, _, body = entry.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise ValueError("not a whole entry")
    size, _, rest = body.partition(b"\n")
    applications, sites = json.loads(rest[: int(size)])
    return Translation(rest[int(size) :], tuple(Application(*a) for a in applications), tuple(_site(*s) for s in sites))


def _site(line: int, column: int, end_line: int, what: str, why: str, reason: str) -> Site:
    return Site(line, column, end_line, what, why, Reason(reason))
