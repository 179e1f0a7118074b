"""`engram api`: any request to the companion's HTTP API."""

import json
import os
from enum import StrEnum
from typing import Annotated

import typer

from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.options import HOME, URL, Context, takes


class Method(StrEnum):
    GET = "GET"
    POST = "POST"
    DELETE = "DELETE"


@takes(URL, HOME)
def api(
    context: Context,
    method: Method,
    path: Annotated[str, typer.Argument(help="path with its query, such as /v1/boards?limit=5")],
    data: Annotated[str, typer.Option(metavar="JSON", help="body of the request")] = "",
) -> None:
    """Send a request to the companion's API and print the response. Needs a running companion.

    Example: engram api GET /v1/boards/kitchen/changes

    Example: engram api POST /v1/boards/kitchen/settings --data '{"name": "llm.retries", "value": "5"}'
    """
    # An absolute URL would take the operator's token to another host.
    if not path.startswith("/") or not path.isprintable():
        raise WrongUsage("a path begins with /, such as /v1/boards.")
    with context.open_companion() as companion:
        response = companion.request(method, path, os.fsencode(data))
    if response.headers.get("content-type") == "application/json":
        typer.echo(json.dumps(response.json(), ensure_ascii=False, indent=2))
    else:
        typer.echo(response.content, nl=False)
