"""`sync replay`."""

import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from sync_tools.commands.options import Settings
from sync_tools.plural import counted
from sync_tools.replay.session import Replayed, Task, replay
from sync_tools.terminal import clean, console, print_json, watched


def run(settings: Settings, first: str, last: str, workdir: Path, overlay: Path | None) -> int:
    """0 where both laws hold, 1 where something crashed, is missing, differs or was lost, 130 where it was interrupted."""
    with watched(settings.json, "reading the window") as progress:
        done = replay(Task(first, last, workdir, overlay), settings.upstream, settings.config, progress)
    if done.interrupted:
        sys.stderr.write(
            clean(f"sync: interrupted after {done.done} of {done.commits} commits; they stand in {workdir}") + "\n"
        )
        return 130
    if settings.json:
        print_json({k: v for k, v in asdict(done).items() if k != "done"})
    else:
        for line in _lines(done, workdir):
            console().print(clean(line), markup=False)
    return 0 if done.clean else 1


def _lines(done: Replayed, workdir: Path) -> Iterator[str]:
    yield f"{counted(done.commits, 'commit')}, {done.prs} of them pull requests, in {done.seconds:.1f} s"
    for crash in done.crashed:
        yield f"  crashed: {crash.commit[:12]} {crash.what}"
    for clash in done.conflicts:
        yield f"  conflict: {clash.commit[:12]} {clash.path} {clash.symbol}: the fork's side was kept"
    if done.unaccounted:
        yield f"  unaccounted: {done.unaccounted} lines that no entry holds"
    for path in done.final_tree_diff:
        yield f"  differs: {path}"
    for edit in done.overlay_lost:
        yield f"  lost: {edit.path}:{edit.line} {edit.symbol} {edit.what}"
    if done.clean:
        yield "Every line is accounted for, and the tree is the import at the tip."
    yield f"Look at it: git -C {workdir} log --first-parent; git -C {workdir} diff import main"
