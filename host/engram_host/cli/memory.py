"""`engram search`, `engram list` and `engram show`: what boards remember; `engram eval`: evaluation of the search."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.exit_status import CommandError, NotFound, NotInstalled, WrongUsage
from engram_host.cli.options import DEVICE, HOME, JSON, URL, Context, Devices, takes
from engram_host.wording import counted

Since = Annotated[str, typer.Option(help="from this time on: a day such as 2026-01-31, or Unix seconds")]
Until = Annotated[str, typer.Option(help="before this time: a day such as 2026-01-31, or Unix seconds")]

_MOST_SIGNS = 100


# --- search


@takes(URL, HOME, JSON)
def search(
    context: Context,
    query: Annotated[str, typer.Argument(help="words, or a question")],
    device: Devices = None,
    folder: Annotated[
        list[str] | None, typer.Option(help="only in this Markdown folder; repeatable; boards only with --device")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=50, help="maximum number of results")] = 10,
    tag: Annotated[
        list[str] | None, typer.Option(help="only memories with this tag; repeatable: they must have all")
    ] = None,
    since: Since = "",
    until: Until = "",
    principal: Annotated[str, typer.Option(help="search for this person: finds only what they may see")] = "owner",
    words_only: Annotated[bool, typer.Option("--words", help="search by words only, not by meaning")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="search the notes of boards only")] = False,
    history: Annotated[bool, typer.Option(help="include superseded memories")] = False,
) -> None:
    """Search what boards remember and have noted, by words and by meaning. Needs a running companion.

    Example: engram search "what does Ann drink?"

    Example: engram search bike --device kitchen --tag colour --limit 3 --json

    Example: engram search "where does the tea come from" --folder notes
    """
    asked = {
        "query": query,
        "devices": device or [],
        "limit": limit,
        "tags": tag or [],
        "since": _to_seconds("--since", since),
        "until": _to_seconds("--until", until),
        "principal": principal,
        "history": history,
    }
    asked |= ({"meaning": False} if words_only else {}) | ({"folders": folder} if folder else {})
    asked |= {"log": "notes"} if notes else {}
    with context.open_companion() as companion:
        answer = companion.post("/v1/search", asked)
    if context.json:
        output.print_json(answer)
        return
    _print_hits(answer, query)
    remarks = [_certainty(answer), answer["degraded"], *(f"left out: {each}." for each in answer["left_out"])]
    for remark in filter(None, remarks):
        typer.echo(output.printable_line(f"note: {remark}"), err=True)


def _print_hits(answer: dict[str, Any], query: str) -> None:
    columns = ("board", "id", "day", "score", "who", "text")
    rows = [_hit_row(hit, query) for hit in answer["hits"]]
    output.print_table(columns, rows, empty=f"nothing found: {answer['why_empty']}")


def _hit_row(hit: dict[str, Any], query: str) -> tuple[str, ...]:
    from engram_host.companion.folders.chunks import found_line

    where = hit.get("citation") or hit["id"]
    day, score = output.format_day(hit["at"]), f"{hit['score']:.2f}"
    text = found_line(hit["text"], query, _MOST_SIGNS) or _cut_text(hit["text"])
    return hit["device"], where, day, score, hit["who"], text


def _certainty(answer: dict[str, Any]) -> str:
    """Return how sure the search is, "" if it is sure or found nothing."""
    from engram.memory.confidence import CERTAIN, WEAK

    thousandths = answer["confidence"] * 1000
    if not answer["hits"] or thousandths >= WEAK:
        return ""
    what = "a weak answer at most" if thousandths >= CERTAIN else "nothing certain was found, this only comes nearest"
    return f"{what} (confidence {thousandths // 10:.0f} of 100)."


# --- list

_MEMORY_COLUMNS = ("id", "day", "state", "tags", "memory")
_TURN_COLUMNS = ("id", "at", "session", "who", "text")


@takes(DEVICE, URL, HOME, JSON)
def list_entries(
    context: Context,
    turns: Annotated[bool, typer.Option("--turns", help="list conversation turns instead of memories")] = False,
    tag: Annotated[str, typer.Option(help="only memories with this tag")] = "",
    words: Annotated[str, typer.Option(help="only memories with these words, all of them")] = "",
    state: Annotated[
        str, typer.Option(help="only entries in this state: live, superseded, expired, archived or all")
    ] = "live",
    speaker: Annotated[str, typer.Option(help="only turns of this speaker")] = "",
    since: Since = "",
    until: Until = "",
    limit: Annotated[int, typer.Option(min=1, max=1000, help="maximum number of entries")] = 50,
) -> None:
    """List a board's memories or turns, newest first. Needs a running companion.

    Example: engram list --device kitchen --tag shopping

    Example: engram list --words "blue tin"

    Example: engram list --turns --speaker ann --since 2026-01-01
    """
    if turns and (tag or words):
        raise WrongUsage("--tag and --words are for memories: leave --turns out.")
    if speaker and not turns:
        raise WrongUsage("--speaker is for turns: add --turns.")
    path = "/v1/devices/{}/entries" if turns else "/v1/boards/{}/memories"
    asked: dict[str, Any] = {"log": "journal", "speaker": speaker} if turns else {"tag": tag, "words": words}
    asked |= {"state": state, "since": _to_seconds("--since", since), "until": _to_seconds("--until", until)}
    with context.open_companion() as companion:
        name = companion.device(context.device)
        found = companion.get(path.format(name), **asked, limit=limit)
    if context.json:
        output.print_json({"device": name, **found})
        return
    rows = [_turn_row(each) if turns else _memory_row(each) for each in found["entries"]]
    columns = _TURN_COLUMNS if turns else _MEMORY_COLUMNS
    output.print_table(columns, rows, empty=f"no matching entry on {name}.")
    if limit < found["total"]:
        typer.echo(f"the newest {limit} of {found['total']}; --limit shows more.", err=True)
    if found["archived"]:
        more = counted(
            found["archived"],
            "more is in the archive; --state archived shows it.",
            "more are in the archive; --state archived shows them.",
        )
        typer.echo(more, err=True)


def _memory_row(entry: dict[str, Any]) -> tuple[str, ...]:
    line = entry["line"]
    state = entry["state"] + (", pinned" if line.get("pinned") else "")
    return (
        entry["id"],
        output.format_day(line.get("created")),
        state,
        ", ".join(line.get("tags", ())),
        _cut_text(line["content"]),
    )


def _turn_row(entry: dict[str, Any]) -> tuple[str, ...]:
    line = entry["line"]
    return (
        entry["id"],
        output.format_time(line.get("at")),
        line.get("sid", ""),
        line.get("who", ""),
        _cut_text(line["text"]),
    )


# --- show

_TEXTS = ("content", "text", "seq", "id", "crc")
_TIMES = ("created", "updated", "expires", "at", "used")


@takes(DEVICE, URL, HOME, JSON)
def show(
    context: Context, entry: Annotated[str, typer.Argument(help="memory such as m12, or turn such as t34")]
) -> None:
    """Show a memory or turn with its fields and earlier versions. Needs a running companion.

    Example: engram show m12 --device kitchen

    Example: engram show t34 --json
    """
    if entry[:1] not in ("m", "t") or not (entry[1:].isascii() and entry[1:].isdigit()):
        raise WrongUsage(f"{entry[:20]!r} is no id: a memory is such as m12, a turn such as t34.")
    with context.open_companion() as companion:
        found = companion.get(f"/v1/devices/{companion.device(context.device)}/entries/{entry}")
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


# --- formatting


def _cut_text(text: str) -> str:
    return text if len(text) <= _MOST_SIGNS else text[: _MOST_SIGNS - 1] + "…"


def _to_seconds(option: str, value: str) -> int:
    """Convert a local day or Unix seconds to Unix seconds; 0 for none."""
    if value.isascii() and value.isdigit():
        return int(value)
    try:
        return int(datetime.fromisoformat(value).timestamp()) if value else 0
    except (ValueError, OverflowError):
        raise WrongUsage(f"{option} takes a day such as 2026-01-31, or Unix seconds.") from None


# --- eval


@takes(JSON)
def evaluate(
    context: Context,
    sets: Annotated[
        Path, typer.Argument(help="folder of sets, each a folder with turns.jsonl and questions.jsonl; or young")
    ],
    engine: Annotated[
        str, typer.Option(help="what searches: board, companion, or a variant such as companion-words")
    ] = "companion",
    out: Annotated[Path, typer.Option(help="output folder for the results and figures.json")] = Path("build/eval"),
    foreign: Annotated[
        int, typer.Option(min=0, help="questions of the other conversations to ask each one: is the confidence lower?")
    ] = 0,
    seed: Annotated[int, typer.Option(min=1, help="what the memories of the set young are made from")] = 1,
) -> None:
    """Measure how many answers the search finds, on sets of questions. Needs no companion.

    Example: engram eval path/to/sets --engine companion-words --json
    """
    from engram_host.evaluation import run, young
    from engram_host.evaluation.engines import NoBoardEngine

    if engine not in run.ENGINES:
        raise WrongUsage(f"--engine takes one of {', '.join(sorted(run.ENGINES))}.")
    if str(sets) == young.NAME:
        if engine not in young.ENGINES:
            raise WrongUsage(f"the set young takes --engine {' or '.join(young.ENGINES)}.")
        output.print_json(young.evaluate(engine, seed))
        return
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
