"""`sync ledger`: list, show, worksheet, check, resolve, evidence."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, help_alone, settings

app = typer.Typer(rich_markup_mode=None, help="Read, check and complete the ledgers.")
app.callback(invoke_without_command=True)(help_alone)

Number = Annotated[
    str, typer.Argument(help="A pull request's number, or 12 or more hex digits of a commit.", metavar="N")
]


@app.command("list")
def list_(
    waiting: Annotated[
        bool, typer.Option("--waiting", help="A row for each entry that needs a person, now or on a day, by owner.")
    ] = False,
    owner: Annotated[str, typer.Option(metavar="NAME", help="With --waiting: only what this person is to do.")] = "",
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """A row for each ledger: state, open entries, evidence.

    Example: vime-sync ledger list --waiting
    """
    from sync_tools.commands.ledgers import listing, waiting_list

    found = settings(upstream, repo, config, json)
    raise typer.Exit(waiting_list(found, owner) if waiting or owner else listing(found))


@app.command()
def show(
    number: Number,
    format: Annotated[
        Literal["terminal", "markdown", "github"],
        typer.Option(help="github prints title, body and labels for the pull request."),
    ] = "terminal",
    only: Annotated[str, typer.Option(metavar="GLOB", help="Only entries of these paths.")] = "",
    full: Annotated[bool, typer.Option("--full", help="Long pieces in full.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Read a ledger, what is open first.

    On a terminal upstream and the fork stand side by side.

    Example: vime-sync ledger show 1921 --format github
    """
    from sync_tools.commands.ledgers import showing

    raise typer.Exit(showing(settings(upstream, repo, config, json), number, format, only, full))


@app.command()
def worksheet(
    number: Number,
    path: Annotated[str, typer.Option(metavar="GLOB", help="Only these paths.")] = "",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page of HTML instead of printing.")] = None,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """What upstream changed on paths that are the fork's own.

    Translated, beside the fork's function of that name: do by hand what is worth it, then decide with resolve.

    Example: vime-sync ledger worksheet 1921
    """
    from sync_tools.commands.worksheet import run

    raise typer.Exit(run(settings(upstream, repo, config, json), number, path, out))


@app.command()
def check(
    number: Annotated[str | None, typer.Argument(help="One ledger only.", metavar="[N]")] = None,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Derive again what the ledgers say.

    From upstream and the fork's commits: an entry that claims what is not so is a problem.

    Example: vime-sync ledger check
    """
    from sync_tools.commands.checking import checking

    raise typer.Exit(checking(settings(upstream, repo, config, json), number))


@app.command()
def resolve(
    number: Number,
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="The entry's id, or its beginning.")],
    as_: Annotated[
        str, typer.Option("--as", metavar="OP", help="diverged, dropped, deferred, absent, superseded or reverted.")
    ],
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, for whoever reads it in a year.")],
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="The day when it is to be looked at again, as 2027-03-31.")
    ] = None,
    owner: Annotated[
        str, typer.Option(metavar="NAME", help="Who is to do what is deferred, where that is not you.")
    ] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Decide about an entry.

    Written into the checkout, for you to commit.

    Example: vime-sync ledger resolve 1921 ab12 --as diverged --why "ours retries"
    """
    from sync_tools.commands.ledgers import Word, deciding

    word = Word(as_, why, until, owner)
    raise typer.Exit(deciding(settings(upstream, repo, config, json), number, entry, word, dry_run))


@app.command()
def evidence(
    number: Number,
    level: Annotated[str, typer.Option(metavar="LEVEL", help="static, unit, contract, smoke or converged.")],
    log: Annotated[
        Path,
        typer.Option(metavar="FILE", help="A log or metrics file: JSON lines, CSV, key=value lines, a test summary."),
    ],
    command: Annotated[str, typer.Option(metavar="TEXT", help="The command that was run.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Keep the figures of a run as evidence.

    Says which of them show nothing. Written into the checkout, for you to commit.

    Example: vime-sync ledger evidence 1921 --level smoke --log run.log
    """
    from sync_tools.commands.ledgers import proving

    raise typer.Exit(proving(settings(upstream, repo, config, json), number, level, log, command, dry_run))
