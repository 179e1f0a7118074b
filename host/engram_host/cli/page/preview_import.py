"""`engram import --preview` and `--background`: the companion looks at a file, or sends it to the board line by line."""

from pathlib import Path
from typing import Any

import typer

from engram_host.cli import output
from engram_host.cli.options import Context

_MOST_SHOWN = 1000


def preview_import(context: Context, file: Path, *, is_started: bool) -> None:
    """Print what becomes of each line of a file; start its import, or discard it. CommandError, OSError."""
    with context.open_companion() as companion:
        device = companion.device(context.device)
        path = f"/v1/boards/{device}/imports"
        found = companion.post_file(path, file.read_bytes(), name=file.name)
        here = f"{path}/{found['id']}"
        lines = companion.get(f"{here}/lines", limit=_MOST_SHOWN)["lines"]
        if is_started:
            found = companion.post(here, {"action": "start"})
        else:
            companion.delete(here)
    if context.json:
        output.print_json(found | {"lines": lines})
        return
    _show(found, lines)
    if is_started:
        how = f"`engram api GET {here}` and the page show how far it is."
        typer.echo(f"it is sent to {device} in the background; {how}", err=True)


def _show(found: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    rows = [(str(line["number"]), line["outcome"], line["why"] or line["text"]) for line in lines]
    output.print_table(("line", "becomes", "text"), rows, empty="the file has nothing to import.")
    output.print_line(", ".join(f"{count} {outcome}" for outcome, count in found["expected"].items()))
    for note in found["notes"]:
        output.print_line(note)
    if found["unknown"]:
        output.print_line("left out, since a memory has no place for it: " + ", ".join(found["unknown"]))
    if len(lines) < found["total"]:
        typer.echo(f"the first {len(lines)} of {found['total']} lines.", err=True)
