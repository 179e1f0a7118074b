"""`engram media list`, `get` and `delete`: the photos and sounds that a companion keeps for boards."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.companion.media.signatures import ENDINGS

if TYPE_CHECKING:
    from engram_host.cli.api_client import ApiClient

app = typer.Typer(help="Photos and sounds that the companion keeps for boards.", no_args_is_help=True)

_PAGE = 1000
_PREFIX = "media/"

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="ids or references, from the list or from a turn")
]


@app.command("list")
@takes(DEVICE, URL, HOME, JSON)
def list_media(
    context: Context,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="maximum number of them")] = 50,
    before: Annotated[int, typer.Option(min=0, help="continue below this number")] = 0,
) -> None:
    """List the photos and sounds of a board, newest first. Needs a running companion.

    Example: engram media list --device kitchen
    """
    with context.open_companion() as companion:
        name = companion.device(context.device)
        found = companion.get(f"/v1/boards/{name}/media", limit=limit, **({"before": before} if before else {}))
    if context.json:
        output.print_json({"device": name, "media": found})
        return
    rows = [
        (
            each["number"],
            each["id"],
            each["type"],
            output.format_size(each["size"]),
            output.format_time(each["at"]),
            each["scope"],
            "named" if each["named"] else "not yet named",
        )
        for each in found
    ]
    columns = ("number", "id", "type", "size", "at", "scope", "by a turn or memory")
    output.print_table(columns, rows, empty="no photo or sound is kept for this board.")
    if len(found) == limit:
        typer.echo(f"--before {found[-1]['number']} continues.", err=True)


@app.command("get")
@takes(DEVICE, URL, HOME, JSON)
def get(
    context: Context,
    ids: Ids = None,
    out: Annotated[Path, typer.Option(help="folder for the files, made if it is not there")] = Path(),
    all_of_them: Annotated[bool, typer.Option("--all", help="all of the board")] = False,
) -> None:
    """Save photos and sounds as files. Needs a running companion.

    Example: engram media get 0123456789abcdef --device kitchen

    Example: engram media get --all --out photos --device kitchen
    """
    if bool(ids) == all_of_them:
        raise WrongUsage("name photos or sounds, or give --all: `engram media list` lists those that there are.")
    written: list[dict[str, Any]] = []
    named = [_id(each) for each in ids or ()]
    with context.open_companion() as companion:
        name = companion.device(context.device)
        for each in _all(companion, name) if all_of_them else named:
            kind, data = companion.content(f"/v1/boards/{name}/media/{each}")
            path = out / f"{name}-{each}.{ENDINGS.get(kind, 'bin')}"
            _write(path, data)
            written.append({"id": each, "file": str(path), "bytes": len(data)})
    if context.json:
        output.print_json({"device": name, "media": written})
        return
    for each in written:
        output.print_line(f"{each['file']}: {output.format_size(each['bytes'])}")
    if not written:
        output.print_line("no photo or sound is kept for this board.")


@app.command("delete")
@takes(DEVICE, URL, HOME, JSON)
def delete(context: Context, ids: Ids = None) -> None:
    """Delete photos and sounds; turns and memories that name them stay, with their captions. Needs a running companion.

    Example: engram media delete 0123456789abcdef --device kitchen
    """
    if not ids:
        raise WrongUsage("name what is to be deleted: `engram media list` lists those that there are.")
    deleted = [_id(each) for each in ids]
    with context.open_companion() as companion:
        name = companion.device(context.device)
        for each in deleted:
            companion.delete(f"/v1/boards/{name}/media/{each}")
    if context.json:
        output.print_json({"device": name, "deleted": deleted})
    else:
        output.print_line(f"deleted: {', '.join(deleted)}.")


def _id(text: str) -> str:
    """An id, or a reference with one."""
    found = text.removeprefix(_PREFIX)
    if len(found) != 16 or not set(found) <= set("0123456789abcdef"):
        raise WrongUsage(
            f"{text[:40]} is no id of a photo or sound, such as 0123456789abcdef or media/0123456789abcdef."
        )
    return found


def _all(companion: "ApiClient", name: str) -> Iterator[str]:
    before: dict[str, int] = {}
    while page := companion.get(f"/v1/boards/{name}/media", limit=_PAGE, **before):
        yield from (each["id"] for each in page)
        before = {"before": page[-1]["number"]}


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from None
