"""The commands that take memories out of a board and into it: /export and /import."""

from engram import files, text
from engram.compat import const, unload_modules
from engram.errors import ArgumentError, NotFound, StoreError
from engram.memory import access
from engram.memory.texts import profile

_MOST_TOLD = const(100)  # refused lines that are told one by one; the others are counted
_NAME_LONGEST = const(64)
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
_NEVER = ("config.json", "secrets.json", "code.json")
_WORK = const(10000)  # steps that an index may take that is made anew, before an import gives up

_MODULES = (
    "engram.transfer.markdown",
    "engram.transfer.files",
    "engram.transfer.foreign",
    "engram.transfer.jsonl",
    "engram.transfer.export",
    "engram.transfer.importer",
    "engram.transfer.item",
    "engram.memory.records.provenance",
)


# --- out


def export_command(parts, caller, rest: str):
    """Yield all memories as JSON Lines with the profile and the notes, or as Markdown; or what is in the trash."""
    if rest not in _FORMS:
        raise ArgumentError("/export", "takes nothing, md for Markdown, or trash for what left for want of room.")
    try:
        yield from _FORMS[rest](parts, caller)
    finally:
        unload_modules(_MODULES)


def _json(parts, caller):
    from engram.transfer import export, jsonl

    records = parts.records
    yield jsonl.head(records.entries, parts.journal.epoch, parts.clock.now(), records.count(caller))
    count = 1
    for found in export.memories(records, caller, True):
        if found is None:
            yield 0
            continue
        record, follows, is_past, used = found
        record = parts.forgetting.seen(record, caller)
        for line in jsonl.lines(jsonl.pairs(records, record, follows, is_past, used)):
            yield line
            count += 1
    if not caller.group:
        for keeper in (parts.profile.for_caller(caller), parts.notes.for_caller(caller)):
            for name in keeper.names():
                for line in jsonl.lines((("file", name), ("text", keeper.text(name)))):
                    yield line
                    count += 1
    yield jsonl.tail(count)


def _markdown(parts, caller):
    from engram.transfer import export, markdown

    yield markdown.title(parts.clock)
    day = ""
    for found in export.memories(parts.records, caller, False):
        if found is None:
            yield 0
            continue
        if parts.clock.day(found[0]["created"]) != day:
            day = parts.clock.day(found[0]["created"])
            yield ""
            yield "## " + day
            yield ""
        epoch = parts.records.entries.epoch
        yield from markdown.lines(found[0], parts.clock, access.own_scope(caller), epoch)


def _trash(parts, caller):
    from engram.transfer import jsonl

    records = parts.records
    count = sum(1 for _ in _trashed(parts, caller))
    lines = 1
    yield jsonl.head(records.entries, parts.journal.epoch, parts.clock.now(), count)
    for record in _trashed(parts, caller):
        seen = parts.forgetting.seen(record, caller)
        for line in jsonl.lines(jsonl.pairs(records, seen, "", False, (0, 0))):
            yield line
            lines += 1
    yield jsonl.tail(lines)


def _trashed(parts, caller):
    """Yield what an caller may see of the trash."""
    for record in parts.trash.records():
        if access.may_see(caller, record.get("scope", access.ALL)):
            yield record


_FORMS = {"": _json, "md": _markdown, "trash": _trash}


# --- in


def import_command(parts, caller, rest: str):
    """Take memories from a file of the board, or from the JSON object that follows; yield what became of them."""
    if not rest:
        raise ArgumentError("/import", "needs a file of the board (.jsonl, .json or .md), or a JSON object.")
    try:
        yield from _import(parts, caller, rest)
    finally:
        unload_modules(_MODULES)


def _import(parts, caller, rest: str):
    from engram.transfer.importer import Import

    path = "" if rest[0] == "{" else _path(parts, caller, rest)
    yield from _ready(parts.records)
    taking = Import(parts.records, parts.capacity, parts.forgetting, parts.clock, caller)
    texts = Texts(parts, caller, taking)
    stopped = ""
    try:
        work = _taking(parts, path or rest, bool(path), taking, texts)
        try:
            for _ in work:
                yield from _refused(taking)
                yield 0
        finally:
            work.close()
    except StoreError as error:
        stopped = "stopped at line %d: %s What stands before it is kept, the file can be imported again." % (
            taking.line,
            error,
        )
    finally:
        taking.close()
    yield from _refused(taking)
    if taking.refused > _MOST_TOLD:
        yield "%d more refused lines" % (taking.refused - _MOST_TOLD)
    yield from taking.report()
    yield from texts.report()
    if stopped:
        yield stopped
    elif path and texts.missing:
        yield "the file is not whole: " + texts.missing


def _taking(parts, source: str, is_file: bool, taking, texts):
    """Take all that a file or an object has; a generator that pauses."""
    records = parts.records
    items = _items(parts, source, is_file, taking, texts)
    try:
        for number, found in items:
            if found is not None:
                texts.lines += 1
            if isinstance(found, str):
                taking.refuse(number, found)
            elif found is not None:
                taking.take(number, found)
            if records.partial:
                yield from _ready(records)
            records.tick()
            yield 0
    finally:
        # They hold the file open.
        items.close()
    taking.flush()


def _refused(taking):
    """Yield the lines that tell of what was refused since the last time."""
    first = taking.refused - len(taking.problems)
    for at, (line, why) in enumerate(taking.problems):
        if first + at < _MOST_TOLD:
            yield "line %d: %s" % (line, why)
    taking.problems.clear()


def _items(parts, source: str, is_file: bool, taking, texts):
    from engram.transfer import files as exchange_files

    if not is_file:
        yield 1, exchange_files.read_object(text.encode(source), taking.left_out, texts.note)
    elif source.endswith(".md"):
        from engram.transfer.markdown import Reader

        texts.reader = Reader(parts.clock, taking.left_out)
        yield from exchange_files.markdown(source, texts.reader)
    elif source.endswith(".json"):
        yield from exchange_files.json_list(source, taking.left_out, texts.note)
    else:
        yield from exchange_files.json_lines(source, taking.left_out, texts.note)


def _path(parts, caller, name: str) -> str:
    if not access.is_owner(caller):
        raise ArgumentError("/import", "reads files for the owner only; others can send a JSON object.")
    if not name.endswith((".jsonl", ".json", ".md")) or len(name) > _NAME_LONGEST or name[0] == "." or name in _NEVER:
        raise ArgumentError("/import", "takes a file of the board whose name ends in .jsonl, .json or .md.")
    for letter in name:
        if letter not in _NAME:
            raise ArgumentError("/import", "takes a name with letters, digits, '.', '_' and '-' only, and no folder.")
    path = parts.folder + "/" + name
    if files.size(path) < 0:
        raise NotFound("file", name, "put it beside config.json first; see docs/moving.md.")
    return path


def _ready(records):
    """Let the index be made first, where it is not whole: what is there already is found by it."""
    for _ in range(_WORK):
        if not records.partial:
            return
        records.tick()
        yield 0
    raise StoreError("the index could not be made whole: /compact, then try again.")


class Texts:
    """What of an export is no memory: its first and last line, the profile and the notes."""

    def __init__(self, parts, caller, taking):
        self._parts = parts
        self._caller = caller
        self._taking = taking
        self._parts_of = None  # the parts of a text that is long
        self._has_head = False
        self._told = 0  # lines that the export has, as its last one says
        self.lines = 0
        """Lines that were read."""
        self._kept = []
        self._others = []
        self.reader = None

    @property
    def missing(self) -> str:
        """What is missing of an export, "" if it is whole."""
        if not self._has_head or self.lines == self._told:
            return ""
        return "it had %d lines, %d were read" % (self._told, self.lines) if self._told else "its last line is missing"

    def note(self, fields: dict) -> bool:
        """Take an object that is no memory; whether it was one. ArgumentError says why it cannot be taken."""
        from engram.transfer import jsonl

        if "engram_export_end" in fields:
            if not jsonl.is_count(fields["engram_export_end"]):
                raise ArgumentError("engram_export_end", "must be the number of the lines before it.")
            self._told = fields["engram_export_end"]
            return True
        self._parts_of = self._parts_of or jsonl.TextParts()
        if self._parts_of.take(fields):
            self.lines += 1
            return True
        if "engram_export" in fields:
            self._head(fields)
        elif "file" in fields and "content" not in fields:
            self._text(fields.get("file"), fields.get("text"))
        else:
            return False
        self.lines += 1
        return True

    def _head(self, fields: dict) -> None:
        from engram.memory.records import provenance
        from engram.transfer import jsonl

        jsonl.check_head(fields)
        self._has_head = True
        journal = self._parts.journal
        if fields.get("journal") == provenance.epoch_text(journal.epoch):
            self._taking.has_turns = lambda turn: journal.has(turn, self._caller)

    def _text(self, name, content) -> None:
        """Put a text in its place if there is none yet."""
        if self._caller.group:
            raise ArgumentError("file", "the profile and the notes stay out of group rooms.")
        if not isinstance(name, str) or not isinstance(content, str) or "\0" in content:
            raise ArgumentError("file", "needs a name and a text.")
        is_profile = name in profile.FILES
        keeper = (self._parts.profile if is_profile else self._parts.notes).for_caller(self._caller)
        present = keeper.text(name)
        if present == content:
            return
        if present.strip() and present != profile.TEMPLATES.get(name):
            self._others.append(name)
            return
        if is_profile:
            keeper.write(name, content)
        else:
            keeper.put(name, content)
        self._kept.append(name)

    def report(self):
        """Yield what became of the texts."""
        if self._kept:
            yield "put in their place: " + ", ".join(self._kept)
        if self._others:
            yield "not touched, since another text stands there: " + ", ".join(self._others)
        lost = self._parts_of.lost + self._parts_of.is_waiting if self._parts_of else 0
        if lost:
            yield "%d long texts were left out, since their last part is missing" % lost
        if self.reader and self.reader.outside:
            yield "%d lines are in no list and were left out" % self.reader.outside
