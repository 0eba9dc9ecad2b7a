"""The changes of a stack, read and translated by a second process while this one ports those before them."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Empty, Queue

from sync_tools.config import Config
from sync_tools.gitio import Repo
from sync_tools.modes import EXECUTABLE, REGULAR
from sync_tools.policy import policy_of
from sync_tools.translate import Translator
from sync_tools.translate.pool import begin
from sync_tools.upstream.changeset import ChangeSet
from sync_tools.upstream.collect import collect
from sync_tools.upstream.resolve import Landing

Read = Callable[[Landing], ChangeSet]
FEW, DEPTH, PATIENCE = 4, 16, 0.5

Answer = tuple[str, ChangeSet | None]
"""A commit, and its change set where it could be read."""


@contextmanager
def reading(upstream: Repo, landings: Sequence[Landing], translator: Translator) -> Iterator[Read]:
    """What gives the change set of each landing, asked for in order (again and again, if need be).

    Where there are several, and a cache that two processes share, they are read and translated ahead. What the other
    process could not do, this one does, so that an error is told where it belongs."""
    methods = multiprocessing.get_all_start_methods()
    if len(landings) < FEW or translator.cache is None or "fork" not in methods:
        yield lambda landing: collect(upstream, landing)
        return
    context = multiprocessing.get_context("fork")
    answers: Queue[Answer] = context.Queue(DEPTH)
    work = (upstream.git_dir, upstream.work_tree, list(landings), translator, answers)
    process = context.Process(target=_read_all, args=work, daemon=True)
    process.start()
    try:
        yield _Ahead(upstream, answers, process, {})
    finally:
        process.kill()
        process.join()


@dataclass(frozen=True)
class _Ahead:
    upstream: Repo
    answers: "Queue[Answer]"
    process: BaseProcess
    last: dict[str, ChangeSet]

    def __call__(self, landing: Landing) -> ChangeSet:
        if landing.commit not in self.last:
            self.last.clear()
            self.last[landing.commit] = self._next(landing.commit) or collect(self.upstream, landing)
        return self.last[landing.commit]

    def _next(self, commit: str) -> ChangeSet | None:
        """The answer for a commit; None where the other process failed at it, or is gone."""
        while True:
            with suppress(Empty):
                named, changes = self.answers.get(timeout=PATIENCE)
                if named == commit:
                    return changes
                continue
            if not self.process.is_alive():
                return None


def _read_all(
    git_dir: Path, work_tree: Path | None, landings: Sequence[Landing], translator: Translator, answers: "Queue[Answer]"
) -> None:
    """The other process: an interruption is this one's parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    begin()
    upstream = Repo(git_dir, work_tree)  # with a `git cat-file` of its own
    for landing in landings:
        try:
            changes = collect(upstream, landing)
            translate_ahead(changes, translator, translator.config)
        except Exception:  # the process that asks does it again, and tells
            changes = None
        answers.put((landing.commit, changes))


def translate_ahead(changes: ChangeSet, translator: Translator, config: Config) -> None:
    """Put the translations of a change's images into the cache."""
    for change in changes.files:
        policy = policy_of(config, change)
        if policy is not None and policy.action != "into":
            continue
        for image in (change.before, change.after):
            if image is not None and image.mode in (REGULAR, EXECUTABLE):
                translator.file(image.path, image.data)
