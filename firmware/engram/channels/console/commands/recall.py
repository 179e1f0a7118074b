"""The commands that find and forget: /recall, /forget and /undo."""

from engram.channels.console.commands import remote
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory import ids
from engram.memory.confidence import MadeOf
from engram.memory.ranking import plan_line, plan_of
from engram.memory.recall import (
    best_confidence,
    is_certain,
    is_weak,
    make_query,
    most_confident,
    shown_score,
    snippet,
    weak_mark,
)

_FOUND = const(10)
_EXPLAIN = const("--explain")
_UNCERTAIN = const("nothing certain was found; this comes nearest:")
_CONFIDENCE = const("confidence: %d of 100%s%s")
_WIDTH = const(100)  # characters of a memory in a list


def recall_command(board, caller, rest: str):
    """Find memories and turns by words."""
    explained = rest.startswith(_EXPLAIN)
    query = rest[len(_EXPLAIN) :].strip() if explained else rest
    if not query:
        raise ArgumentError("/recall", "needs words to look for.")
    recall, search = board.recall, board.remote_search
    made_of = MadeOf({}, {}) if explained else None
    ranked = recall.rank(make_query(query, caller), made_of)
    if explained:
        yield plan_line(plan_of(ranked), _FOUND)
        items = recall.explain(ranked, made_of, _FOUND)
    else:
        if search:
            ranked = recall.with_remote(ranked, (yield from remote.found(search, ranked, _FOUND)))
        items = ((item, ()) for item in recall.find(ranked, _FOUND))
    yield from _lines(board, ranked, items, query, made_of)


def _lines(board, ranked, items, query: str, made_of):
    """Yield the lines of what was found, or why nothing was."""
    recall, caller = board.recall, ranked.query.caller
    parts_of = {}
    found = []
    for item, parts in items:
        found.append(item)
        parts_of[item.id] = parts
    if found and not is_certain(ranked):
        yield _UNCERTAIN
    for item in found:
        yield from _found_lines(board.clock, item, parts_of[item.id], weak_mark(item, ranked))
    if found:
        certainty = "" if not is_weak(ranked) else ", weak" if is_certain(ranked) else ", nothing certain"
        reasons = _reasons(most_confident(ranked), made_of.confidence) if made_of else ""
        yield _CONFIDENCE % (best_confidence(ranked) // 10, certainty, reasons)
        if recall.partial:
            yield "there may be more: " + recall.partial
    else:
        yield "nothing found: " + recall.why_empty(query, caller)
    if ranked.note:
        yield ranked.note


def _found_lines(clock, item, parts, mark: str):
    """Yield the line of a hit with its mark, and that of the parts of its score if there are some."""
    who = item.who + ": " if item.who else ""
    score = shown_score(item.score) + (" " + mark if mark else "")
    yield "%-7s %s  %s  %s%s" % (item.id, clock.day(item.at), score, who, snippet(item.text, _WIDTH))
    if parts:
        yield "        " + ", ".join(["%s %s" % (what, shown_score(points)) for what, points in _merged(parts)])


def _reasons(best, made_of: dict) -> str:
    """Name the hit with the highest confidence, and what that is made of."""
    words, *factors = made_of.get(best.id, (("days", best.confidence // 10),))
    reasons = ["%s %d" % words] + ["%s x %d.%02d" % (what, by // 100, by % 100) for what, by in factors]
    return " (%s: %s)" % (best.id, ", ".join(reasons))


def _merged(parts) -> list:
    """Several terms may come from one word, such as old-fashioned: it is named once."""
    merged = []
    for what, points in parts:
        if merged and merged[-1][0] == what:
            points += merged.pop()[1]
        merged.append((what, points))
    return merged


def forget_command(board, caller, rest: str):
    """Forget a memory or a turn."""
    kind = rest[:1].lower()
    if kind in ("m", "t") and rest[1:].isdigit():
        if kind == "m":
            record, turns = board.forgetting.forget(rest, caller, with_turns=True)
            gone = ", ".join([record["id"]] + turns)
            if "archived" in record:
                yield "%s is with the companion, which forgets it for good as soon as it learns of it" % record["id"]
                return
            yield "forgot %s: %s (/undo brings it back)" % (gone, snippet(record["content"], _WIDTH))
        else:
            board.journal.redact(rest, caller)
            yield "forgot the turn t%d; /compact takes it off the flash" % ids.number("id", rest, "t")
        return
    if not rest:
        raise ArgumentError("/forget", "needs an id such as m12, or words to look for.")
    found = False
    for _, record in board.records.search(make_query(rest, caller), _FOUND):
        if not found:
            yield "which one? /forget and its id"
        found = True
        yield row(board.clock, record)
    if not found:
        yield "nothing found: " + board.recall.why_empty(rest, caller, False)
    elif board.recall.partial:
        yield "there may be more: " + board.recall.partial


def undo_command(board, caller, rest: str):
    """Take the latest change back."""
    yield board.undo.undo(caller, rest)


def row(clock, record: dict) -> str:
    """One memory in a list."""
    tags = ", ".join(record.get("tags", ()))
    shown = (record["id"], clock.day(record["created"]), snippet(record["content"], _WIDTH), tags)
    return "%-7s %s  %s  [%s]" % shown
