"""The arguments of what ports upstream's changes, or says what a port will take."""

from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands.named import named
from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, settings


def port(
    numbers: Annotated[
        list[str] | None, typer.Argument(help="Pull requests of upstream; several become one stack.", metavar="N...")
    ] = None,
    commit: Annotated[
        list[str] | None, typer.Option(metavar="REV", help="A commit of upstream's instead of a number.")
    ] = None,
    cutoff: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Port a window at once: after this commit of upstream's.",
            show_default="where the fork was imported, with --tip",
        ),
    ] = None,
    tip: Annotated[str | None, typer.Option(metavar="REV", help="The last commit of the window.")] = None,
    as_: Annotated[
        str | None,
        typer.Option("--as", metavar="NAME", help="The name of a stack or window: its branch is sync/slime-NAME."),
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="BRANCH", help="The branch to start from; the current one if not given.")
    ] = None,
    bring: Annotated[
        list[str] | None, typer.Option(metavar="PATH", help="Take a file that the fork lacks as upstream has it.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would come out; write nothing.")] = False,
    run_tests: Annotated[bool, typer.Option("--run-tests", help="Run the tests that the port touches.")] = False,
    go_on: Annotated[bool, typer.Option("--continue", help="Go on with a port whose conflicts you resolved.")] = False,
    abort: Annotated[bool, typer.Option("--abort", help="Give a waiting port up.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Port pull requests onto a branch of their own.

    Translates, merges, registers tests in CI, verifies, accounts for every line, and commits. Your checkout, index and
    branches stay as they are.

    Example: vime-sync port 1921
    """
    from sync_tools.commands.port import run
    from sync_tools.port.request import Request

    changes = named(numbers or [])
    request = Request(changes, cutoff, tip, as_, base, tuple(bring or ()), dry_run, run_tests, upstream, repo, config)
    raise typer.Exit(run(settings(upstream, repo, config, json), request, go_on=go_on, abort=abort))


def replay(
    first: Annotated[str, typer.Option("--from", metavar="REV", help="The commit of upstream to import.")],
    last: Annotated[str, typer.Option("--to", metavar="REV", help="The commit of upstream to end at.")],
    workdir: Annotated[Path, typer.Option(metavar="DIR", help="A new folder; it becomes a repository to look at.")],
    overlay: Annotated[
        Path | None,
        typer.Option(
            metavar="PLACE", help="Edits of a fork: a folder of files, a fork's repository, or a .patch file."
        ),
    ] = None,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Port a window of upstream onto an import, and compare.

    Imports upstream at one commit, ports every commit up to another, and compares with the import of that one.

    Example: vime-sync replay --from 8ef1fb47e --to 624b824a8 --workdir /tmp/replay
    """
    from sync_tools.commands.replay import run

    raise typer.Exit(run(settings(upstream, repo, config, json), first, last, workdir, overlay))


def plan(
    number: Annotated[
        str | None, typer.Argument(help="A pull request of upstream's, or a commit's hex.", metavar="N")
    ] = None,
    cutoff: Annotated[
        str | None, typer.Option(metavar="REV", help="Plan a window instead: what landed after this commit.")
    ] = None,
    tip: Annotated[
        str | None,
        typer.Option(metavar="REV", help="Where the window, or the look at later changes, ends.", show_default="main"),
    ] = None,
    base: Annotated[
        str | None, typer.Option(metavar="BRANCH", help="The fork's branch; the current one if not given.")
    ] = None,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Say what a port will take, and write nothing.

    What it needs first, what upstream did to its lines later, and what makes it more than routine.

    Example: vime-sync plan 1921
    """
    from sync_tools.commands.plan import run

    change = named([number])[0] if number is not None else None
    prs, commits = (change,) if isinstance(change, int) else (), (change,) if isinstance(change, str) else ()
    raise typer.Exit(run(settings(upstream, repo, config, json), prs, commits, base, cutoff, tip))
