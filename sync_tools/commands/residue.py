"""`sync residue`: check, list, update."""

from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, help_alone, settings

app = typer.Typer(rich_markup_mode=None, help="What is left of upstream's names, and what may be.")
app.callback(invoke_without_command=True)(help_alone)

Only = Annotated[str, typer.Option(metavar="GLOB", help="Only leftovers of these files.")]


@app.command()
def check(
    repo: RepoPath = Path(), config: ConfigPath = None, upstream: UpstreamPlace = None, json: AsJson = False
) -> None:
    """Are there more leftovers than residue.toml allows?

    Names each one that no row answers for, or whose row is overrun or ran out; says where the budget can shrink.

    Example: vime-sync residue check
    """
    from sync_tools.commands.leftovers import checking

    raise typer.Exit(checking(settings(upstream, repo, config, json)))


@app.command("list")
def list_(
    only: Only = "",
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """The leftovers, by reason.

    The budget's reason, else the one for which translation left them.

    Example: vime-sync residue list --only 'docs/**'
    """
    from sync_tools.commands.leftovers import listing

    raise typer.Exit(listing(settings(upstream, repo, config, json), only))


@app.command()
def update(
    reason: Annotated[
        str, typer.Option(metavar="TEXT", help="Why leftovers that the budget has no room for may stand.")
    ] = "",
    sites: Annotated[
        bool, typer.Option("--sites", help="The same, of open sites alone: the reason is translation's own.")
    ] = False,
    until: Annotated[
        str | None, typer.Option(metavar="DATE", help="The day when it is to be looked at again, as 2027-03-31.")
    ] = None,
    only: Only = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """Write the budget down to what is there.

    A number grows, or a row is added or renewed, only with a reason. Written into the checkout, for you to commit.

    Example: vime-sync residue update --reason "the exporter keeps its names" --only 'docs/en/metrics.md'
    """
    from sync_tools.commands.leftovers import updating

    raise typer.Exit(updating(settings(upstream, repo, config, json), reason, sites, until, only, dry_run))
