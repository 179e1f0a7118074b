"""`engram folders`: the Markdown folders that a companion reads; and lines of a file in one, for `engram show`."""

from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import WrongUsage
from engram_host.cli.options import DEFAULT_HOME, AsJson, Home, Url

_MARKS = "/#."
"""Of which a citation has one at least, and the id of a memory or a turn none."""


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
    from engram_host.cli.api_client import ApiClient

    with ApiClient(url, home) as companion:
        found = companion.get("/v1/folders", principal=principal)
    if as_json:
        output.document({"folders": found})
        return
    columns = ("folder", "scope", "state", "files", "passages", "last read")
    output.table(
        columns, [_row(one) for one in found], empty="no folder that may be shown: docs/guides/folders.md adds one."
    )
    for one in found:
        for problem in _problems(one):
            output.say(f"{one['name']}: {problem}")


def is_citation(told: str) -> bool:
    """Whether it is a file of a Markdown folder, such as notes/tea.md or notes/tea.md#12, and no id of a memory or turn."""
    return any(mark in told for mark in _MARKS)


def show_lines(citation: str, count: int, principal: str, url: str, home: Any, as_json: bool) -> None:
    """Print so many lines of a file, from the one that a citation names."""
    from engram_host.cli.api_client import ApiClient

    path, _, told = citation.partition("#")
    line = told or "1"
    if not (path and line.isascii() and line.isdigit()):
        raise WrongUsage("a place in a file is its path and the number of a line, such as notes/tea.md#12.")
    with ApiClient(url, home) as companion:
        asked = {"path": path, "from": int(line), "lines": count, "principal": principal}
        found = companion.get("/v1/memory", **asked)
    if as_json:
        output.document(found)
        return
    width = len(str(found["total"]))
    for number, text in enumerate(found["lines"], found["first"]):
        output.say(f"{number:>{width}}  {text}".rstrip())
    if not found["lines"]:
        output.say(f"{path} has {found['total']} lines.")
    if found["following"]:
        typer.echo(output.safe(f"it goes on at {path}#{found['following']}"), err=True)


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
