"""The arguments of what says where a fork stands, and of what adopts it."""

from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, settings


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
