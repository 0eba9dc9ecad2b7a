"""`sync ledger`."""

import typer

app = typer.Typer(no_args_is_help=True, help="ledger")


@app.callback()
def _group() -> None:
    pass
