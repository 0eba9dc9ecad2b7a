"""`sync seam`: sites, check, snapshot."""

from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, help_alone, settings

app = typer.Typer(
    rich_markup_mode=None, help="The seam between the engines: what of it is translated, and whether the engine has it."
)
app.callback(invoke_without_command=True)(help_alone)


@app.command()
def sites(
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="A tree of upstream's on disk, instead of --at.")
    ] = None,
    at: Annotated[str | None, typer.Option(metavar="REV", help="The commit, branch or tag of upstream.")] = None,
    every: Annotated[bool, typer.Option("--all", help="List every site with its verdict.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Find every place that speaks the old engine's language, and say what translation makes of it.

    The search is independent of the translator: it is what the share of translated sites is measured against.

    Example: vime-sync seam sites --at 624b824a8
    """
    from sync_tools.commands.seam_sites import run

    raise typer.Exit(run(settings(upstream, repo, config, json), folder, at, every))
