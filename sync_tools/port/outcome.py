"""What became of one upstream file in a port: the value that the ledger accounts for and the commits are made from."""

from dataclasses import dataclass
from typing import Literal

from sync_tools.merge.result import Merged
from sync_tools.translate.result import Translation
from sync_tools.tree import Blob
from sync_tools.upstream.changeset import FileChange

Disposition = Literal["merged", "dropped", "owned", "absent", "present", "generated"]


@dataclass(frozen=True)
class FileOutcome:
    """One file of the change set.

    `path` is where it lives (or would live) in the fork. `before` and `after` are upstream's images translated,
    and formatted where the fork names formatters; None for an added or deleted side, for carried bytes and for links.
    `merged` stands for a file that was merged as text. `mechanical` and `final` are the fork's file after the first and
    the second commit; None where it does not exist. `edited` says that the fork's file differed from `before`.
    `unplaced` are the names of upstream's matrix (tests, jobs) whose change found no place in the fork's, each with why.
    """

    change: FileChange
    path: str
    disposition: Disposition
    reason: str = ""
    old_path: str | None = None
    before: Translation | None = None
    after: Translation | None = None
    merged: Merged | None = None
    ours: Blob | None = None
    mechanical: Blob | None = None
    final: Blob | None = None
    edited: bool = False
    unplaced: tuple[tuple[str, str], ...] = ()
