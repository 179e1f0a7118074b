"""Options that several commands take, and the completion of their values."""

import contextlib
import os
from pathlib import Path
from typing import Annotated

import typer

from engram_host.cli import API_VARIABLE, HOME_VARIABLE

DEFAULT_HOME = Path("~/.engram/companion")

_COMPLETION_SECONDS = 0.7
"""How long a shell waits for names of boards."""


def _device_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """The names of boards for a shell, of the companion that the command would ask; none if it does not answer at once."""
    with contextlib.suppress(Exception):
        from engram_host.cli.api_client import ApiClient

        # While a shell completes, what is not typed yet has neither its default nor what its variable says.
        url = ctx.params.get("url") or os.environ.get(API_VARIABLE, "")
        home = ctx.params.get("home") or os.environ.get(HOME_VARIABLE) or DEFAULT_HOME
        with ApiClient(url, Path(home), seconds=_COMPLETION_SECONDS) as companion:
            names = [device["name"] for device in companion.get("/v1/devices")]
        return [name for name in names if name.startswith(incomplete)]
    return []


AsJson = Annotated[bool, typer.Option("--json", help="print one JSON document")]
Home = Annotated[Path, typer.Option(envvar=HOME_VARIABLE, help="the folder of the companion's files")]
Url = Annotated[
    str,
    typer.Option(envvar=API_VARIABLE, help="where the companion is; by default, where the one of the folder listens"),
]
Device = Annotated[
    str, typer.Option("--device", "-d", help="the board; not needed if there is one", autocompletion=_device_names)
]
Devices = Annotated[
    list[str] | None, typer.Option("--device", "-d", help="a board; all by default", autocompletion=_device_names)
]
Port = Annotated[str, typer.Option(help="the board's serial port; by default the only one that there is")]
Sim = Annotated[
    Path | None, typer.Option(help="the folder of a simulated board that is not running, such as ~/.engram/sim")
]
