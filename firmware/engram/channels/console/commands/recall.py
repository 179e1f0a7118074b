"""The commands that find and forget: /recall, /forget and /undo."""

from engram.channels.console.commands import remote
from engram.compat import const
from engram.errors import ArgumentError
from engram.memory import ids
from engram.memory.recall import best_confidence, is_certain, is_weak, make_query, shown_score, snippet, weak_mark

_FOUND = const(10)
_UNCERTAIN = const("nothing certain was found; this comes nearest:")
_CONFIDENCE = const("confidence: %d of 100%s")
_WIDTH = const(100)  # characters of a memory in a list


def recall_command(board, caller, rest: str):
    if not rest:
        raise ArgumentError("/recall", "needs words to look for.")
    recall, search = board.recall, board.remote_search
    ranked = recall.rank(make_query(rest, caller))
    if search:
        ranked = recall.with_remote(ranked, (yield from remote.waited(lambda: search.found(ranked, _FOUND))))
    found = recall.find(ranked, _FOUND)
    if found and not is_certain(ranked):
        yield _UNCERTAIN
    for item in found:
        mark, who = weak_mark(item, ranked), item.who + ": " if item.who else ""
        score = shown_score(item.score) + (" " + mark if mark else "")
        yield "%-7s %s  %s  %s%s" % (item.id, board.clock.day(item.at), score, who, snippet(item.text, _WIDTH))
    if found:
        certainty = "" if not is_weak(ranked) else ", weak" if is_certain(ranked) else ", nothing certain"
        yield _CONFIDENCE % (best_confidence(ranked) // 10, certainty)
        if recall.partial:
            yield "there may be more: " + recall.partial
    else:
        yield "nothing found: " + recall.why_empty(rest, caller)
    if ranked.note:
        yield ranked.note


def forget_command(board, caller, rest: str):
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
    yield board.undo.undo(caller, rest)


def row(clock, record: dict) -> str:
    tags = ", ".join(record.get("tags", ()))
    shown = (record["id"], clock.day(record["created"]), snippet(record["content"], _WIDTH), tags)
    return "%-7s %s  %s  [%s]" % shown
