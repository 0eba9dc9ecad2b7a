"""`sync`: arguments in, exit codes out. Everything that does something lives elsewhere and is imported when asked for.

Exit codes: 0 done and clean, or nothing to do; 1 done or paused, and a person is needed; 2 wrong usage or environment,
nothing changed.
"""

import gc
import sys
from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands import ci, ledger, residue, seam
from sync_tools.commands.named import InOrder, named
from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, help_alone, settings

EPILOG = "Examples:  vime-sync fetch  ·  vime-sync port 1921  ·  vime-sync ledger show 1921  ·  vime-sync ci check"

app = typer.Typer(
    name="sync",
    help="Port pull requests of an upstream project into a hard fork, with a ledger of every upstream line.",
    epilog=EPILOG,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(ledger.app, name="ledger")
app.add_typer(ci.app, name="ci")
app.add_typer(seam.app, name="seam")
app.add_typer(residue.app, name="residue")


@app.callback(invoke_without_command=True)
def _root(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("vime"))
        raise typer.Exit
    help_alone(ctx)


@app.command()
def fetch(
    upstream: UpstreamPlace = None, repo: RepoPath = Path(), config: ConfigPath = None, json: AsJson = False
) -> None:
    """Make or update the local mirror of upstream.

    Example: vime-sync fetch
    """
    from sync_tools.commands.fetch import run

    raise typer.Exit(run(settings(upstream, repo, config, json)))


@app.command()
def translate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of upstream's, or - for standard input.")],
    path: Annotated[
        str | None, typer.Option(metavar="PATH", help="The path that it has in upstream; decides the kind of text.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say on standard error which rule did what where.")
    ] = False,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """Translate one file; the text goes to standard output.

    Example: vime-sync translate slime/rollout/x.py --explain
    """
    from sync_tools.commands.translate import run

    raise typer.Exit(run(settings(upstream, repo, config, json), file, path, explain))


@app.command("import")
def import_(
    at: Annotated[str, typer.Option(metavar="REV", help="The commit, branch or tag of upstream.")],
    to: Annotated[Path, typer.Option(metavar="DIR", help="The folder that the translated tree is written to.")],
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Write a whole tree of upstream's, translated.

    Example: vime-sync import --at 624b824a8 --to ../fork
    """
    from sync_tools.commands.import_ import run

    raise typer.Exit(run(settings(upstream, repo, config, json), at, to))


@app.command(cls=InOrder)
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


@app.command()
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


@app.command()
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


@app.command()
def status(
    tip: Annotated[
        str | None, typer.Option(metavar="REV", help="The commit of upstream to look up to; its main line's newest.")
    ] = None,
    cutoff: Annotated[
        str | None, typer.Option(metavar="REV", help="The commit of upstream to look from; the fork's own cutoff.")
    ] = None,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
    every: Annotated[bool, typer.Option("--all", help="Every landing; else the first of each list.")] = False,
) -> None:
    """What of upstream the fork has, lacks, or has open.

    By ledgers where there are some, else by content: what stands in the files tells, not a label. Writes nothing.

    Example: vime-sync status
    """
    from sync_tools.commands.status import run

    raise typer.Exit(run(settings(upstream, repo, config, json), tip, cutoff, every))


@app.command()
def init(
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    cutoff: Annotated[
        str | None, typer.Option(metavar="REV", help="Adopt the fork: the commit of upstream that it holds all of.")
    ] = None,
    tip: Annotated[
        str | None, typer.Option(metavar="REV", help="With --cutoff: how far to look for what the fork has.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print it; write nothing.")] = False,
    json: AsJson = False,
) -> None:
    """Write a sync.toml.

    Without --cutoff the built-in configuration. With it, the fork is adopted as it stands: the cutoff, and a row for each
    path in which it differs from what it has of upstream. A sync.toml that is there keeps what it says.

    Example: vime-sync init --cutoff 8ef1fb47e
    """
    from sync_tools.commands.init import adopting, run

    given = settings(upstream, repo, config, json, must_exist=False)
    raise typer.Exit(adopting(given, cutoff, tip, dry_run) if cutoff is not None else run(given, dry_run))


def main() -> None:
    """The console script."""
    from sync_tools.commands.main import end_tidily, run_app

    gc.set_threshold(100_000, 20, 20)  # syntax trees are many small objects, and none of them garbage for long
    end_tidily()
    sys.exit(run_app(app, sys.argv[1:]))
