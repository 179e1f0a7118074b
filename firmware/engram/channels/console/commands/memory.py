"""The commands over memories: /memory, /recall, /forget and /undo."""

from engram import text
from engram.channels.console.commands import count_of
from engram.errors import ArgumentError
from engram.memory import catalog, ids
from engram.memory.line_meaning import attributed_text
from engram.memory.recall import best_confidence, make_query, snippet
from engram.memory.records import fields

_PAGE = const(20)
_FOUND = const(10)
_WIDTH = const(100)  # characters of a memory in a list


def recall_command(board, caller, rest: str):
    if not rest:
        raise ArgumentError("/recall", "needs words to look for.")
    recall, search = board.recall, board.remote_search
    ranked = recall.rank(make_query(rest, caller))
    if search and not board.journal.unkept.is_on(caller):
        ranked = recall.with_remote(ranked, (yield lambda _: search.found(ranked, _FOUND)))
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
    shown = (record["id"], clock.day(record["created"]), snippet(fields.stated(record), _WIDTH), tags)
    return "%-7s %s  %s  [%s]" % shown


def memory_command(board, caller, rest: str):
    what, _, more = rest.partition(" ")
    if what not in _VIEWS:
        raise ArgumentError("/memory", "takes list, tags, show ID or history ID.")
    return _VIEWS[what](board, caller, more)


def _overview(board, caller, _):
    yield "%s, %s mode" % (count_of(board.records.count(caller), "memory", "memories"), board.config.get("mode"))
    tags = catalog.line(catalog.ranked(board.records, caller), 60)
    if tags:
        yield "tags: " + tags
    today = board.clock.day(board.clock.now())
    shown = 0
    for record in board.records.newest(caller):
        # They come by their latest change, and no change is before the beginning.
        if shown == _PAGE or board.clock.day(record.get("updated", record["created"])) < today:
            break
        if board.clock.day(record["created"]) == today:
            shown += 1
            yield row(board.clock, record)
    if not shown:
        yield "nothing was remembered today; /memory list shows all"
    yield from _noted(board, caller)


def _noted(board, caller):
    if not caller.group:
        notes = board.notes.for_caller(caller)
        for name in ("MEMORY.md", notes.today()):
            content = notes.text(name).strip()
            if content:
                yield name + ":"
                yield from content.split("\n")


def _list(board, caller, more: str):
    page = _page(more)
    if page == 1 and board.config.get("mode") != "full":
        yield from _noted(board, caller)
    position = 0
    for record in board.records.newest(caller):
        if position == page * _PAGE:
            break
        if (page - 1) * _PAGE <= position:
            yield row(board.clock, record)
        position += 1
    pages = max((position + _PAGE - 1) // _PAGE, (board.records.count(caller) + _PAGE - 1) // _PAGE)
    if not position:
        yield "nothing is remembered yet"
    elif position <= (page - 1) * _PAGE:
        yield "there is no page %d; the last is %d" % (page, pages)
    elif pages > 1:
        yield "page %d of %d" % (page, pages)


def _tags(board, caller, _):
    tags = catalog.ranked(board.records, caller)
    for tag, count in tags:
        yield "%5d  %s" % (count, tag)
    if not tags:
        yield "no tags yet: nothing is remembered"


def _show(board, caller, more: str):
    archive = board.archive
    if archive and archive.may_be_archived(more, caller):
        line, why = yield lambda _: archive.fetched(more, caller)
        if line is None:
            yield why
        elif "text" in line:
            yield _turn_row(board, line)
        else:
            yield from _shown(board, board.forgetting.seen(line, caller))
            yield "  %-11s from the companion" % "read"
        return
    if more[:1] == "t":
        for turn in board.journal.get(more, caller, 2):
            yield _turn_row(board, turn)
        return
    record, at, why = board.forgetting.why_left(more, caller)
    if record and "content" not in record:
        yield "%s  %s %s" % (record["id"], why, board.clock.minute(at))
        return
    record = board.forgetting.seen(record or board.records.get(more, caller), caller)
    yield from _shown(board, record)
    if why:
        yield "  %-11s %s, %s" % ("left", board.clock.minute(at), why)
    else:
        yield from _use_of(board, record)


def _turn_row(board, turn: dict) -> str:
    return "t%-6d %s  %s: %s" % (turn["seq"], board.clock.minute(turn["at"]), turn["who"], attributed_text(turn))


def _shown(board, record: dict):
    yield "%s  %s" % (record["id"], fields.stated(record))
    for name in ("tags", "keywords", "people", "turns", "notes", "evidence"):
        if record.get(name):
            yield "  %-11s %s" % (name, ", ".join(record[name]))
    for name in ("where", "type", "importance", "source", "scope", "pinned", "supersedes", "confidence"):
        if name in record:
            yield "  %-11s %s" % (name, record[name])
    for name in ("when", "until", "created", "updated", "expires", "restored"):
        if name in record:
            yield "  %-11s %s" % (name, board.clock.minute(record[name]))


def _use_of(board, record: dict):
    records = board.records
    uses, last = records.uses.usage_of(int(record["id"][1:])) if records.uses else (0, 0)
    if uses:
        yield "  %-11s %s the last time, %d in all" % ("used", board.clock.day(last), uses)
    given, now = round(100 * record.get("importance", fields.IMPORTANCE)), records.importance.now(record)
    if now < given:
        yield "  %-11s 0.%02d now, as it was not used for long" % ("importance", now)


def _history(board, caller, more: str):
    for record in board.records.history(more, caller):
        changed = board.clock.minute(record.get("updated", record["created"]))
        back = " (back from the companion)" if "restored" in record else ""
        yield "%-7s %s  %s%s" % (record["id"], changed, record["content"], back)


_VIEWS = {"": _overview, "list": _list, "tags": _tags, "show": _show, "history": _history}


def _page(more: str) -> int:
    if not more:
        return 1
    # Bytes, since str.isdigit accepts more digits than int() on CPython.
    digits = text.encode(more)
    if not digits.isdigit() or int(digits) < 1:
        raise ArgumentError("page", "must be a number from 1 on.")
    return int(digits)
