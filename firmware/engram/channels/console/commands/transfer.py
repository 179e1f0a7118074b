"""The commands /export and /import."""

from engram.errors import ArgumentError, StoreError
from engram.memory import access
from engram.transfer import jsonl
from engram.transfer.importer import Importer, report_lines

_STEPS = const(10000)  # of an index that is rebuilt, before an import gives up


def export_command(board, caller, rest: str):
    if rest not in _FORMS:
        raise ArgumentError("/export", "takes nothing, or trash for evicted memories.")
    yield from _FORMS[rest](board, caller)


def _json(board, caller):
    keepers = () if caller.group else (board.profile.for_caller(caller), board.notes.for_caller(caller))
    memories = jsonl.memories(board.records, caller)
    yield from _lines(board, caller, board.records.count(caller), memories, keepers)


def _trash(board, caller):
    def memories():
        for record in board.records.left():
            is_seen = record is not None and access.may_see_line(caller, record)
            yield (record, "", False, (0, 0)) if is_seen else None

    count = 0
    for memory in memories():
        count += memory is not None
        yield 0
    yield from _lines(board, caller, count, memories(), ())


def _lines(board, caller, count: int, memories, keepers):
    epoch = board.records.entries.epoch
    yield jsonl.head(epoch, board.clock.now(), count)
    written = 1
    for memory in memories:
        if memory is None:
            yield 0
            continue
        record, follows, is_past, used = memory
        record = board.forgetting.seen(record, caller)
        yield jsonl.line(jsonl.pairs(epoch, record, follows, is_past, used))
        written += 1
    for keeper in keepers:
        for name in keeper.names():
            yield jsonl.line((("file", name), ("text", keeper.text(name))))
            written += 1
    yield jsonl.tail(written)


_FORMS = {"": _json, "trash": _trash}


def import_command(board, caller, rest: str):
    # The index finds existing memories.
    yield from _rebuilt_index(board.records)
    importer = Importer(board.records, board.forgetting, board.profile, board.notes, caller)
    report = importer.import_object(rest)
    yield from report_lines(report)
    yield report


def _rebuilt_index(records):
    for _ in range(_STEPS):
        if not records.entries.partial:
            return
        if not records.entries.tick():
            break
        yield 0
    raise StoreError("the index could not be made whole: %s" % records.entries.partial)
