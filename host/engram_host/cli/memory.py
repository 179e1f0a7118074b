"""`engram show`: a memory, a turn or lines of a file; `engram eval`: evaluation of the search."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled, WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, takes
from engram_host.wording import counted

Shown = Annotated[
    str, typer.Argument(help="memory such as m12, turn such as t34, or line of a file such as notes/tea.md#12")
]
Since = Annotated[str, typer.Option(help="from this time on: a day such as 2026-01-31, or Unix seconds")]
Until = Annotated[str, typer.Option(help="before this time: a day such as 2026-01-31, or Unix seconds")]

MOST_SIGNS = 100


@takes(DEVICE, URL, HOME, JSON)
def show(
    context: Context,
    entry: Shown,
    lines: Annotated[int, typer.Option(min=1, max=500, help="maximum number of lines of a file")] = 20,
    principal: Annotated[
        str, typer.Option(help="show a file to this person: refused if they may not see it")
    ] = "owner",
) -> None:
    """Show a memory or turn with its fields and earlier versions, or lines of a file. Needs a running companion.

    With --device, a file is a note of that board, else one of a Markdown folder.

    Example: engram show m12 --device kitchen

    Example: engram show t34 --json

    Example: engram show notes/tea.md#12 --lines 40

    Example: engram show 2026-01-31.md#3 --device kitchen
    """
    if _is_citation(entry):
        _show_lines(context, entry, lines, principal)
        return
    found = _entry(context, entry)
    if context.json:
        output.print_json(found)
        return
    line = found["line"]
    output.print_line(f"{found['id']}  {line.get('content', line.get('text', ''))}")
    rows = [("board", found["device"]), ("state", found["state"])]
    rows += [(name, _value(name, value)) for name, value in line.items() if name not in _TEXTS]
    output.print_table(("", ""), [(f"  {name}", value) for name, value in rows])
    if len(found["versions"]) > 1:
        output.print_line("history, oldest first:")
        _show_versions(found["versions"])


# --- showing

_MARKS = "/#."
"""Characters that mark a citation (path#line)."""

_TEXTS = ("content", "text", "seq", "id", "crc")
_TIMES = ("created", "updated", "expires", "at", "used")


def _is_citation(value: str) -> bool:
    """True for a file such as notes/tea.md#12, False for the id of a memory or turn."""
    return any(mark in value for mark in _MARKS)


def _show_lines(context: Context, citation: str, count: int, principal: str) -> None:
    path, _, value = citation.partition("#")
    line = value or "1"
    if not (path and line.isascii() and line.isdigit()):
        raise WrongUsage("a place in a file is its path and the number of a line, such as notes/tea.md#12.")
    with context.open_companion() as companion:
        asked = {"path": path, "from": int(line), "lines": count, "principal": principal}
        found = companion.get("/v1/memory", **asked, **({"device": context.device} if context.device else {}))
    if context.json:
        output.print_json(found)
        return
    width = len(str(found["total"]))
    for number, text in enumerate(found["lines"], found["first"]):
        output.print_line(f"{number:>{width}}  {text}".rstrip())
    if not found["lines"]:
        output.print_line(f"{path} has {counted(found['total'], 'line', 'lines')}.")
    if found["following"]:
        typer.echo(output.printable_line(f"continues at {path}#{found['following']}"), err=True)


def is_entry_id(value: str) -> bool:
    """True for an id such as m12 or t34."""
    return value[:1] in ("m", "t") and value[1:].isascii() and value[1:].isdigit()


def _entry(context: Context, entry: str) -> Any:
    if not is_entry_id(entry):
        raise WrongUsage(f"{entry[:20]!r} is no id: a memory is such as m12, a turn such as t34.")
    with context.open_companion() as companion:
        return companion.get(f"/v1/devices/{companion.device(context.device)}/entries/{entry}")


def _show_versions(versions: list[dict[str, Any]]) -> None:
    rows = []
    for line in versions:
        at = output.format_time(line.get("updated", line.get("created", line.get("at"))))
        tags = " ".join("#" + tag for tag in line.get("tags", ()))
        rows.append((line.get("id", ""), at, tags, line.get("content", line.get("text", ""))))
    output.print_table(("id", "at", "tags", "text"), rows)


def _value(name: str, value: Any) -> str:
    if name in _TIMES:
        return output.format_time(value)
    return ", ".join(str(each) for each in value) if isinstance(value, list) else str(value)


def cut_text(text: str) -> str:
    return text if len(text) <= MOST_SIGNS else text[: MOST_SIGNS - 1] + "…"


def to_seconds(option: str, value: str) -> int:
    """Convert a local day or Unix seconds to Unix seconds; 0 for none."""
    if value.isascii() and value.isdigit():
        return int(value)
    try:
        return int(datetime.fromisoformat(value).timestamp()) if value else 0
    except (ValueError, OverflowError):
        raise WrongUsage(f"{option} takes a day such as 2026-01-31, or Unix seconds.") from None


@takes(JSON)
def evaluate(
    context: Context,
    sets: Annotated[Path, typer.Argument(help="folder of sets, each a folder with turns.jsonl and questions.jsonl")],
    engine: Annotated[
        str, typer.Option(help="what searches: board, companion, recipe, or a variant such as companion-words")
    ] = "companion",
    out: Annotated[Path, typer.Option(help="output folder for the results and figures.json")] = Path("build/eval"),
    foreign: Annotated[
        int, typer.Option(min=0, help="questions of the other conversations to ask each one: is the confidence lower?")
    ] = 0,
) -> None:
    """Measure how many answers the search finds, on sets of questions. Needs no companion.

    Example: engram eval path/to/sets --engine companion-words --json
    """
    from engram_host.evaluation import run
    from engram_host.evaluation.engines import NoBoardEngine

    if engine not in run.ENGINES:
        raise WrongUsage(f"--engine takes one of {', '.join(sorted(run.ENGINES))}.")
    if not sets.is_dir():
        raise NotFound(f"there is no folder {sets}: docs/design/retrieval.md says what a set is.")
    try:
        result = run.evaluate(engine, sets, out, foreign=foreign)
    except NoBoardEngine as error:
        raise NotInstalled(str(error)) from None
    except run.FAILURES as error:
        raise CommandError(str(error)) from None
    if context.json:
        output.print_json(result)
    else:
        run.print_table(result)
