"""The commands /export and /import."""

from engram import files, text
from engram.compat import const
from engram.errors import ArgumentError, NotFound, StoreError, StoreFull
from engram.memory import access
from engram.transfer import export, jsonl
from engram.transfer.importer import Importer

_NAME_LONGEST = const(64)
_NAME = const(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_STEPS = const(10000)  # of an index that is rebuilt, before an import gives up


def export_command(board, caller, rest: str):
    if rest not in _FORMS:
        raise ArgumentError("/export", "takes nothing, or trash for evicted memories.")
    yield from _FORMS[rest](board, caller)


def _json(board, caller):
    keepers = () if caller.group else (board.profile.for_caller(caller), board.notes.for_caller(caller))
    memories = export.memories(board.records, caller)
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
    yield jsonl.head(epoch, board.journal.entries.epoch, board.clock.now(), count)
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
    if not rest:
        raise ArgumentError("/import", "needs a .jsonl file of the board, or a JSON object.")
    path = "" if rest[0] == "{" else _path(board.folder, caller, rest)
    # The index finds existing memories.
    yield from _rebuilt_index(board.records)
    parts = board.journal, board.eviction, board.forgetting, board.profile, board.notes
    importer = Importer(board.records, board.clock, *parts, caller)
    yield from _import(importer, board.records, path, rest)


def _import(importer, records, path: str, rest: str):
    stopped = None
    try:
        if path:
            work = importer.import_file(path)
            try:
                for _ in work:
                    yield from _refused(importer.problems)
                    importer.problems.clear()
                    yield from _rebuilt_index(records)
                    records.entries.tick()
                    yield 0
            finally:
                work.close()  # it holds the file open
        else:
            importer.import_line(1, text.encode(rest))
            importer.flush()
    except StoreError as error:
        stopped = error
    finally:
        importer.close()
    yield from _refused(importer.problems)
    yield from importer.report()
    if stopped:
        problem = "stopped at line %d: %s What stands before it is kept, the file can be imported again."
        yield problem % (importer.line, stopped)
        code = "full" if isinstance(stopped, StoreFull) else "flash"
        yield {"line": importer.line, "code": code, "why": str(stopped)}


def _refused(problems):
    for line, code, why in problems:
        yield "line %d: %s" % (line, why)
        yield {"line": line, "code": code, "why": why}


def _path(folder, caller, name: str) -> str:
    if not access.is_owner(caller):
        raise ArgumentError("/import", "reads files for the owner only; others can send a JSON object.")
    if not name.lower().endswith(".jsonl"):
        raise ArgumentError("/import", "reads .jsonl files only; use `engram import FILE` on a computer for others.")
    if len(name) > _NAME_LONGEST or name[0] == "." or [byte for byte in text.encode(name) if byte not in _NAME]:
        raise ArgumentError("/import", "takes a name with letters, digits, '.', '_' and '-' only, and no folder.")
    path = folder + "/" + name
    if files.size(path) < 0:
        raise NotFound("file", name, "put it beside config.json first; see docs/guides/moving.md.")
    return path


def _rebuilt_index(records):
    for _ in range(_STEPS):
        if not records.entries.partial:
            return
        if not records.entries.tick():
            break
        yield 0
    raise StoreError("the index could not be made whole: %s" % records.entries.partial)
