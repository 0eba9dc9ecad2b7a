"""`sync ledger`: list, show, check, resolve, evidence."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, settings

app = typer.Typer(no_args_is_help=True, help="Read, check and complete the ledgers.")

Number = Annotated[
    str, typer.Argument(help="A pull request's number, or 12 or more hex digits of a commit.", metavar="N")
]


@app.command("list")
def list_(
    repo: RepoPath = Path(), config: ConfigPath = None, upstream: UpstreamPlace = None, json: AsJson = False
) -> None:
    """A row for each ledger: its state, what is open, the highest evidence.  Example: vime-sync ledger list"""
    from sync_tools.commands.ledgers import listing

    raise typer.Exit(listing(settings(upstream, repo, config, json)))


@app.command()
def show(
    number: Number,
    format: Annotated[
        Literal["terminal", "markdown", "github"],
        typer.Option(help="github prints title, body and labels for the pull request."),
    ] = "terminal",
    only: Annotated[str, typer.Option(help="A glob: only entries of these paths.")] = "",
    full: Annotated[bool, typer.Option("--full", help="Long pieces in full.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Read a ledger: what is open first, upstream and fork side by side.  Example: vime-sync ledger show 1921 --format github"""
    from sync_tools.commands.ledgers import showing

    raise typer.Exit(showing(settings(upstream, repo, config, json), number, format, only, full))


@app.command()
def check(
    number: Annotated[str | None, typer.Argument(help="One ledger only.", metavar="[N]")] = None,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Derive again what the ledgers say, from upstream and the fork's commits.  Example: vime-sync ledger check"""
    from sync_tools.commands.ledgers import checking

    raise typer.Exit(checking(settings(upstream, repo, config, json), number))


@app.command()
def resolve(
    number: Number,
    entry: Annotated[str, typer.Argument(help="The entry's id, or its beginning.")],
    as_: Annotated[str, typer.Option("--as", help="diverged, dropped, deferred, absent, superseded or reverted.")],
    why: Annotated[str, typer.Option(help="The reason, for whoever reads it in a year.")],
    until: Annotated[str | None, typer.Option(help="The day when it is to be looked at again, as 2026-03-31.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Decide about an entry; written into the checkout, for you to commit.  Example: vime-sync ledger resolve 1921 ab12 --as diverged --why "ours retries" """
    from sync_tools.commands.ledgers import deciding

    raise typer.Exit(deciding(settings(upstream, repo, config, json), number, entry, as_, why, until, dry_run))


@app.command()
def evidence(
    number: Number,
    level: Annotated[str, typer.Option(help="static, unit, contract, smoke or converged.")],
    log: Annotated[Path, typer.Option(help="A log or metrics file: JSON lines, CSV, key=value lines, a test summary.")],
    command: Annotated[str, typer.Option(help="The command that was run.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Keep the figures of a run as evidence, and say which of them show nothing.  Example: vime-sync ledger evidence 1921 --level smoke --log run.log"""
    from sync_tools.commands.ledgers import proving

    raise typer.Exit(proving(settings(upstream, repo, config, json), number, level, log, command, dry_run))
