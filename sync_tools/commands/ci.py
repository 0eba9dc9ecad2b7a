"""`sync ci`."""

import typer

app = typer.Typer(no_args_is_help=True, help="ci")


@app.callback()
def _group() -> None:
    pass
