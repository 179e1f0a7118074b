"""The commands that find and forget: /recall, /forget and /undo."""

from engram.compat import const
from engram.errors import ArgumentError
from engram.interrupt import start_task
from engram.memory import ids
from engram.memory.recall import best_confidence, make_query, snippet

_FOUND = const(10)
_WIDTH = const(100)  # characters of a memory in a list
_LOOK_MS = const(20)


def recall_command(board, caller, rest: str):
    if not rest:
        raise ArgumentError("/recall", "needs words to look for.")
    recall, search = board.recall, board.remote_search
    ranked = recall.rank(make_query(rest, caller))
    if search:
        ranked = recall.with_remote(ranked, (yield from waited(lambda: search.found(ranked, _FOUND))))
    yield from board.offline.found_lines(ranked, _FOUND, rest, caller)
    if ranked.items or ranked.notes:
        yield "confidence: %d of 100" % (best_confidence(ranked) // 10)


def forget_command(board, caller, rest: str):
    if not rest:
        raise ArgumentError("/forget", "needs an id such as m12, or words to look for.")
    if rest[:1] in "tT" and rest[1:].isdigit():
        board.journal.redact(rest, caller)
        yield "forgot the turn t%d; /compact takes it off the flash" % ids.number("id", rest, "t")
    else:
        yield from board.offline.forget(caller, rest).split("\n")


def undo_command(board, caller, rest: str):
    yield board.undo.undo(caller, rest)


def row(clock, record: dict) -> str:
    tags = ", ".join(record.get("tags", ()))
    shown = (record["id"], clock.day(record["created"]), snippet(record["content"], _WIDTH), tags)
    return "%-7s %s  %s  [%s]" % shown


def waited(ask):
    """Yield pauses until the coroutine function `ask` ends; return its result, None if broken off."""
    answers = []

    async def wait():
        answers.append(await ask())

    task = start_task(wait)
    try:
        while not task.done():
            yield _LOOK_MS
    finally:
        if not task.done():
            task.cancel()
    return answers[0] if answers else None
