"""`sync ci`: render, check, add, move."""

from pathlib import Path
from typing import Annotated

import typer

from sync_tools.commands.options import AsJson, ConfigPath, RepoPath, UpstreamPlace, help_alone, settings

app = typer.Typer(rich_markup_mode=None, help="The test matrix and the workflow that is generated from it.")
app.callback(invoke_without_command=True)(help_alone)

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")]
Test = Annotated[str, typer.Argument(help="A test file, a folder or a glob, below the tests' folder.", metavar="TEST")]


@app.command()
def render(
    dry_run: DryRun = False,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """Generate the workflow from its template.

    Example: vime-sync ci render
    """
    from sync_tools.commands.matrix import rendering

    raise typer.Exit(rendering(settings(upstream, repo, config, json), dry_run))


@app.command()
def check(
    base: Annotated[
        str | None, typer.Option(metavar="REV", help="A revision: debt that it has is listed apart.")
    ] = None,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """Is the workflow current, and every test registered?

    Also: valid against the schema of GitHub's workflows, no two equal rows in a job, every registered file exists.

    Example: vime-sync ci check --base main
    """
    from sync_tools.commands.matrix import checking

    raise typer.Exit(checking(settings(upstream, repo, config, json), base))


@app.command()
def add(
    test: Test,
    job: Annotated[str, typer.Option(metavar="JOB", help="The job of the matrix.")],
    num_gpus: Annotated[int, typer.Option(metavar="N", help="GPUs that the test needs.", min=0)] = 0,
    option: Annotated[
        list[str] | None, typer.Argument(help="Further options of the row, as key=value.", metavar="KEY=VALUE")
    ] = None,
    dry_run: DryRun = False,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """Register a test.

    Example: vime-sync ci add test_new.py --job e2e-test-short --num-gpus 4
    """
    from sync_tools.commands.matrix import adding

    raise typer.Exit(adding(settings(upstream, repo, config, json), test, job, num_gpus, option or [], dry_run))


@app.command()
def move(
    test: Test,
    to: Annotated[str, typer.Option(metavar="JOB", help="The job that it goes to.")],
    origin: Annotated[
        str | None, typer.Option("--from", metavar="JOB", help="The job that it stands in, where it stands in several.")
    ] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, kept in sync.toml.")] = "",
    dry_run: DryRun = False,
    repo: RepoPath = Path(),
    config: ConfigPath = None,
    upstream: UpstreamPlace = None,
    json: AsJson = False,
) -> None:
    """Move a test's rows to another job.

    sync.toml remembers that they stand elsewhere than upstream's, and ports go by it.

    Example: vime-sync ci move test_a.py --to e2e-test-short --why "one pool of machines"
    """
    from sync_tools.commands.matrix import moving

    raise typer.Exit(moving(settings(upstream, repo, config, json), test, to, origin, why, dry_run))
