"""`sync`: arguments in, exit codes out. Everything that does something lives elsewhere and is imported when asked for.

Exit codes: 0 done and clean, or nothing to do; 1 done or paused, and a person is needed; 2 wrong usage or environment,
nothing changed.
"""

import gc
import sys
from typing import Annotated

import typer

from sync_tools.commands import adopting, ci, importing, ledger, porting, residue, seam
from sync_tools.commands.named import InOrder
from sync_tools.commands.options import help_alone

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
app.command()(importing.fetch)
app.command()(importing.translate)
app.command("import")(importing.import_)
app.command(cls=InOrder)(porting.port)
app.command()(porting.replay)
app.command()(porting.plan)
app.command()(adopting.status)
app.command()(adopting.init)
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


def main() -> None:
    """Run the arguments of this process, and end it with the exit code."""
    from sync_tools.commands.main import end_tidily, run_app

    sys.setswitchinterval(0.0005)  # a thread that starts git need not wait until another one has counted
    end_tidily()
    code = run_app(app, sys.argv[1:])
    gc.freeze()  # at the end nothing is looked for that could be collected: the process goes as a whole
    sys.exit(code)
