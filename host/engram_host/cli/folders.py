"""`engram folders`: the Markdown folders that a companion reads."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.options import DEFAULT_HOME, AsJson, Home, Url


def folders(
    principal: Annotated[str, typer.Option(help="who asks: only what they may see is listed")] = "owner",
    url: Url = "",
    home: Home = DEFAULT_HOME,
    as_json: AsJson = False,
) -> None:
    """List the Markdown folders of the settings: how far each has been read, and what is not read and why. Asks the companion.

    Example: engram folders

    Example: engram folders --principal ann --json
    """
    from engram_host.cli.client import Companion

    with Companion(url, home) as companion:
        found = companion.get("/v1/folders", principal=principal)
    if as_json:
        output.document({"folders": found})
        return
    columns = ("folder", "scope", "state", "files", "passages", "last read")
    output.table(columns, [_row(one) for one in found], empty="no folder that may be shown: docs/folders.md adds one.")
    for one in found:
        for problem in _problems(one):
            output.say(f"{one['name']}: {problem}")


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    files = f"{one['done']} of {one['total']}"
    return one["name"], one["scope"], one["state"], files, str(one["passages"]), output.moment(one["read_at"] or None)


def _problems(one: dict[str, Any]) -> list[str]:
    told = list(one["problems"])
    if one["more_problems"]:
        told.append(f"{one['more_problems']} more problems like these.")
    if one["links"]:
        told.append(f"{one['links']} symbolic links were not followed.")
    return told
