"""The arguments of what brings upstream here, and of what translates it."""

from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, settings


def fetch(
    upstream: UpstreamPlace = None, repo: RepoPath = Path(), config: ConfigPath = None, json: AsJson = False
) -> None:
    """Make or update the local mirror of upstream.

    Example: vime-sync fetch
    """
    from sync_tools.commands.fetch import run

    raise typer.Exit(run(settings(upstream, repo, config, json)))


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
