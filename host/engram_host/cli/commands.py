"""All commands of `engram`."""

import typer

from engram_host.cli import device, serve

app = typer.Typer(
    help="Engram on the host: a memory that lasts, for agents on microcontrollers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command("serve")(serve.serve)
app.add_typer(device.app, name="device")


@app.callback()
def about() -> None:
    """Engram on the host."""
