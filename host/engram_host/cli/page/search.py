"""`engram search`: searches memories, turns, notes and Markdown folders."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from engram_host.cli import output
from engram_host.cli.memory import MOST_SIGNS, Since, Until, cut_text, to_seconds
from engram_host.cli.options import HOME, JSON, URL, Context, Devices, takes

if TYPE_CHECKING:
    pass


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
    explain: Annotated[bool, typer.Option(help="show what each score is made of")] = False,
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
        "since": to_seconds("--since", since),
        "until": to_seconds("--until", until),
        "principal": principal,
        "history": history,
        "explain": explain,
    }
    asked |= ({"meaning": False} if words_only else {}) | ({"folders": folder} if folder else {})
    asked |= {"log": "notes"} if notes else {}
    with context.open_companion() as companion:
        answer = companion.post("/v1/search", asked)
    if context.json:
        output.print_json(answer)
        return
    _print_hits(answer, query)
    if explain:
        if answer["plan"]:
            output.print_line(_plan_line(answer["plan"], limit))
        _explain(answer["hits"])
        if answer["wordings"]:
            output.print_line("other wordings of the query: " + "; ".join(answer["wordings"]))
    remarks = [_certainty(answer), answer["degraded"], *(f"left out: {each}." for each in answer["left_out"])]
    for remark in filter(None, remarks):
        typer.echo(output.printable_line(f"note: {remark}"), err=True)


# --- showing

_POINTS = ("expansion", "session", "meaning", "speaker", "reply", "importance", "dates")


def _print_hits(answer: dict[str, Any], query: str) -> None:
    columns = ("board", "id", "day", "score", "who", "text")
    rows = [_hit_row(hit, query) for hit in answer["hits"]]
    output.print_table(columns, rows, empty=f"nothing found: {answer['why_empty']}")


def _hit_row(hit: dict[str, Any], query: str) -> tuple[str, ...]:
    from engram_host.companion.folders.chunks import found_line

    where = hit.get("citation") or hit["id"]
    day, score = output.format_time(hit["at"])[:10], f"{hit['score']:.2f}"
    text = found_line(hit["text"], query, MOST_SIGNS) or cut_text(hit["text"])
    return hit["device"], where, day, score, hit["who"], text


def _explain(hits: list[dict[str, Any]]) -> None:
    for hit in hits:
        points = hit["explanation"] or {}
        words = ", ".join(
            f"{word} {score:.2f}" for word, score in (*points.get("words", ()), *points.get("beside", ()))
        )
        more = [f"{name} {points[name]:.2f}" for name in _POINTS if points.get(name)]
        if points.get("rerank") is not None:
            more.append(f"reranker {points['rerank']:.2f}")
        made_of = ", ".join(f"{what} {value:.2f}" for what, value in points.get("confidence", ()))
        more.append(f"confidence {hit['confidence']:.2f}: {made_of}")
        output.print_line(f"{hit['id']}: " + "; ".join([f"words: {words or 'none'}", *more]))


def _plan_line(plan: dict[str, Any], limit: int) -> str:
    days = plan["first"] if plan["first"] == plan["last"] else f"{plan['first']} to {plan['last']}"
    named = f"{days}; " if days else ""
    return f"plan: {named}{', '.join(plan['kinds'])}; {plan['order']}, at most {limit}"


def _certainty(answer: dict[str, Any]) -> str:
    """Return how sure the search is, "" if it is sure or found nothing."""
    from engram.memory.confidence import CERTAIN, WEAK

    thousandths = answer["confidence"] * 1000
    if not answer["hits"] or thousandths >= WEAK:
        return ""
    what = "a weak answer at most" if thousandths >= CERTAIN else "nothing certain was found, this only comes nearest"
    return f"{what} (confidence {thousandths // 10:.0f} of 100)."
