"""`sync seam`: sites, check, snapshot."""

from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, help_alone, settings

app = typer.Typer(rich_markup_mode=None, help="What of the seam is translated, and whether the engine has it.")
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
    """Find the seam sites of a tree, and what became of each.

    A site speaks the old engine's language. The search is independent of the translator: it is what the share of
    translated sites is measured against.

    Example: vime-sync seam sites --at 624b824a8
    """
    from sync_tools.commands.seam_sites import run

    raise typer.Exit(run(settings(upstream, repo, config, json), folder, at, every))


@app.command()
def check(
    engine: Annotated[
        str | None, typer.Option(metavar="PYTHON", help="An interpreter that has vLLM; it is asked, not imported.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A snapshot.", show_default="the one that this version brings")
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="FILE|PYTHON", help="Another version: what changed, and what rests on it.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="List the changes that nothing rests on, too.")] = False,
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Does the engine have what the rules say it has?

    Routes and their queries, fields of requests and answers, sampling parameters, flags and their values, metrics,
    modules, the router's options: each row of each table.

    Example: vime-sync seam check --engine ../vllm/bin/python
    """
    from sync_tools.commands.seam_check import run

    raise typer.Exit(run(settings(upstream, repo, config, json), engine, table, against, every))


@app.command()
def snapshot(
    engine: Annotated[str, typer.Option(metavar="PYTHON", help="An interpreter that has vLLM.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write.")],
    upstream: UpstreamPlace = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    json: AsJson = False,
) -> None:
    """Write down what an installed engine accepts.

    Example: vime-sync seam snapshot --engine ../vllm/bin/python --out vllm-0.33.json
    """
    from sync_tools.commands.seam_check import snapshot as write

    raise typer.Exit(write(settings(upstream, repo, config, json), engine, out))
