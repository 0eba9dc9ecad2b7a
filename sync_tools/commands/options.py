"""The options that every command takes, and what they resolve to."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer

from sync_tools.config import Config, load
from sync_tools.errors import SyncError
from sync_tools.gitio import Repo
from sync_tools.upstream.mirror import open_upstream

UpstreamPlace = Annotated[
    str | None,
    typer.Option(
        "--upstream", metavar="PLACE", help="Upstream: a clone's path, or a URL that was fetched.", show_default=False
    ),
]
RepoPath = Annotated[
    Path, typer.Option("--repo", metavar="DIR", help="The fork's repository.", show_default="this folder")
]
ConfigPath = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The configuration.", show_default="the fork's sync.toml"),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, for programs.")]


def help_alone(ctx: typer.Context) -> None:
    """What a group of commands does when none of them is named: its help, and the exit code of wrong usage."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
        raise typer.Exit(2)


@dataclass(frozen=True)
class Settings:
    """Where things are, and how the user wants to be answered."""

    config: Config
    config_path: Path | None
    place: str | None
    repo_path: Path
    json: bool

    @cached_property
    def repo(self) -> Repo:
        return Repo.open(self.repo_path)

    @cached_property
    def today(self) -> date:
        """The day that what has an end is judged by. Only here is the clock read."""
        return datetime.now(UTC).date()

    @cached_property
    def upstream(self) -> Repo:
        return open_upstream(self.place, self.config)


def settings(upstream: str | None, repo: Path, config: Path | None, json: bool, *, must_exist: bool = True) -> Settings:
    """Raises SyncError for a configuration that is named and cannot be read, or is not valid."""
    if not repo.is_dir():
        raise SyncError("no such folder", str(repo), "name the fork's repository with --repo")
    path = config or next((p for p in (top_of(repo) / "sync.toml",) if p.is_file()), None)
    if path is None or (not must_exist and not path.exists()):
        return Settings(Config(), None, upstream, repo, json)
    return Settings(load(path), path, upstream, repo, json)


def top_of(folder: Path) -> Path:
    """The work tree that a folder is in, where sync.toml stands; the folder itself where it is in none."""
    here = folder.resolve()
    return next((place for place in (here, *here.parents) if (place / ".git").exists()), folder)
