"""The walk-through of `make demo`: the main job, offline, on a miniature upstream and two forks of it."""

import shutil
import tempfile
from pathlib import Path

from rich.console import Console

from sync_tools.demo.forks import build_handwritten_fork, build_imported_fork, parent_of
from sync_tools.demo.side_by_side import side_by_side
from sync_tools.demo.stage import Stage
from sync_tools.demo.upstream import build_upstream

UPSTREAM = ("--upstream", "upstream")
IMPORTED = ("--repo", "imported")
HANDWRITTEN = ("--repo", "handwritten")
STREAM = ("slime/rollout/sglang_streaming_rollout.py", "vime/rollout/vllm_streaming_rollout.py")
ANY = (0, 1)


def run(workdir: Path | None = None, keep: bool = False) -> int:
    """Shows everything to a person; 0 when each command ended as expected, else 1.

    With a `workdir` the demo is built there (anew) and stays; without one it goes into a temporary folder, which is
    removed at the end unless `keep` is set.
    """
    folder = workdir or Path(tempfile.mkdtemp(prefix="sync-demo-"))
    for name in ("upstream", "imported", "handwritten", "replayed"):
        shutil.rmtree(folder / name, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    stage = Stage(folder.resolve(), Console())
    try:
        _the_story(stage)
        return _the_end(stage, kept=keep or workdir is not None)
    finally:
        if workdir is None and not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _the_story(stage: Stage) -> None:
    _upstream_and_import(stage)
    _port_streaming(stage)
    _its_ledger(stage)
    _a_window(stage)
    _a_fork_by_hand(stage)


def _upstream_and_import(stage: Stage) -> None:
    stage.chapter("1. An upstream, and a fork of it", "A miniature of slime with a history, built here and now:")
    upstream = build_upstream(stage.folder / "upstream")
    stage.git("upstream", "log", "--oneline", "--first-parent")
    stage.say("The fork is upstream before #1861, translated from SGLang to vLLM. What was not sure is listed.")

    def importer(_: Path, revision: str, to: Path) -> None:
        stage.sync("import", "--at", revision[:12], "--to", to.name, *UPSTREAM, expect=ANY)

    build_imported_fork(upstream, stage.folder / "imported", importer)


def _port_streaming(stage: Stage) -> None:
    stage.chapter("2. One pull request, all the way", "#1921 adds a rollout that reads SGLang's streams, and its test.")
    stage.say("What it stands on, and what became of it upstream:")
    stage.sync("plan", "1921", *IMPORTED, *UPSTREAM)
    if not stage.sync("port", "1921", *IMPORTED, *UPSTREAM):
        return
    stage.say("Your checkout is as it was; there is one new branch with two commits:")
    stage.git("imported", "log", "--stat=100", "--format=%n%h %s", "main..sync/slime-pr-1921")
    stage.say("SGLang's chunks are cumulative and vLLM's are deltas, so this is what became of the code:")
    theirs = stage.read("upstream", "main", STREAM[0])
    ours = stage.read("imported", "sync/slime-pr-1921", STREAM[1])
    stage.console.print(side_by_side(theirs, ours))
    stage.say("The new test is registered, and the workflow made from its template again:")
    stage.git("imported", "diff", "main...sync/slime-pr-1921", "--", "*pr-test.yml.j2")


def _its_ledger(stage: Stage) -> None:
    stage.chapter("3. Where every upstream line went", "The ledger is on the branch. `check` derives it again.")
    stage.git("imported", "switch", "-q", "sync/slime-pr-1921")
    stage.sync("ledger", "show", "1921", *IMPORTED, *UPSTREAM, expect=ANY, first=40)
    stage.sync("ledger", "check", *IMPORTED, *UPSTREAM)
    stage.sync("ci", "check", *IMPORTED)
    stage.say("The text for the pull request, with its labels:")
    stage.sync("ledger", "show", "1921", "--format", "github", *IMPORTED, *UPSTREAM, expect=ANY, first=20)
    stage.git("imported", "switch", "-q", "main")


def _a_window(stage: Stage) -> None:
    stage.chapter("4. All that upstream landed since", "The fork lags behind. First where it stands, then all at once.")
    stage.sync("status", *IMPORTED, *UPSTREAM)
    stage.sync("port", "--tip", "main", "--as", "catch-up", *IMPORTED, *UPSTREAM, expect=ANY, first=16)
    stage.git("imported", "diff", "--shortstat", "main...sync/slime-catch-up")
    stage.say("And the proof: each commit ported one by one leads to the import of the last one, to the byte.")
    first = parent_of(stage.folder / "upstream", 1861)
    stage.sync("replay", "--from", first[:12], "--to", "main", "--workdir", "replayed", *UPSTREAM, expect=ANY)


def _a_fork_by_hand(stage: Stage) -> None:
    stage.chapter(
        "5. A fork that people wrote",
        "It has no seam module, its own formatting, a file under another name, and `examples/retool` was removed.",
    )
    build_handwritten_fork(stage.folder / "handwritten")
    stage.git("handwritten", "log", "--oneline")
    stage.say("#1921 was landed by hand and has grown since: nothing is overwritten, what differs is listed.")
    stage.sync("port", "1921", *HANDWRITTEN, *UPSTREAM, expect=ANY)
    stage.say(
        "#1861 edits a file that the fork removed: `absent`, with the commit that removed it. Nothing is guessed."
    )
    stage.sync("port", "1861", *HANDWRITTEN, *UPSTREAM, expect=(1,))
    stage.say(
        "#1920 deletes files that the fork has edited. That is for a person: the conflicts wait in a work tree, "
        "no branch has moved, and `--abort` takes it away."
    )
    if stage.sync("port", "1920", *HANDWRITTEN, *UPSTREAM, expect=(1,)):
        stage.sync("port", "--abort", *HANDWRITTEN)
    stage.sync("ledger", "list", *HANDWRITTEN, expect=ANY)
    stage.git("handwritten", "status", "--short", "--branch")


def _the_end(stage: Stage, kept: bool) -> int:
    if stage.surprises:
        stage.chapter("Not as expected")
        for surprise in stage.surprises:
            stage.console.print(f"- {surprise}", markup=False, soft_wrap=True)
        return 1
    stage.chapter("What to try next")
    if kept:
        stage.say(f"Everything is in `{stage.folder}`. From there:")
    else:
        stage.say("`make demo KEEP=1` builds it into `.demo` and leaves it there. From there:")
    stage.say(
        """
- `vime-sync port 1926 --repo handwritten --upstream upstream`: upstream edits a function that the fork edited too
- `vime-sync port 1930 --repo imported --upstream upstream`: a file moves, and what names the old path follows
- `vime-sync port 1880 --repo imported --upstream upstream --dry-run`: a patch of the engine, dropped by a policy
- `vime-sync port 1861 --repo handwritten --upstream upstream --bring examples/retool/generate_with_retool.py`: what the fork removed, back again

Then with the real one: `git clone https://github.com/THUDM/slime`, and `vime-sync port 1921 --upstream slime`.
"""
    )
    return 0
