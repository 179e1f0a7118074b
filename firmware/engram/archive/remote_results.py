"""Merges a companion's results with the board's; only the board decides on visibility."""

from engram import text
from engram.errors import ArgumentError, NotFound
from engram.memory import access, ids
from engram.memory.line_meaning import happened_at
from engram.memory.ranking import Item, is_between, with_score
from engram.memory.records import fields
from engram.memory.texts.notes import MEMORY, is_note
from engram.store.search.weights import ONE
from engram.store.types import LIVE

_LONGEST = const(1000)  # characters of an archived entry's text
_WHO_LONGEST = const(64)
_REF_LONGEST = const(300)  # characters of path#line
_TOP = const(2000)  # thousandths: a higher score is no score


class ResultMerger:
    """A merger of checked companion results; `archived` is the archive's index or None."""

    def __init__(self, records, journal, archived, notes):
        self._records = records
        self._notes = notes
        self._journal = journal
        self._archived = archived

    def add_use(self, number: int, caller) -> None:
        if self._archived:
            self._archived.add_use(number, caller)

    def merge(self, local: list, notes: list, more, query) -> tuple:
        """Return (the board's items behind the companion's, lines of notes that the board found).

        Items unknown to the companion keep their place.
        """
        own = {item.id: item for items in (local, notes) for item in items}
        places = {line.id: place for place, line in enumerate(notes)}
        seen = set()
        found = []
        for result, sure in zip(more.ranked, more.confidence):
            item = self._checked(result, query, own)
            if item and item.id not in seen and is_between(item.at, query):
                seen.add(item.id)
                score = max(0, min(_TOP, result[1])) * ONE // 1000
                sure = max(item.confidence, sure)
                merged = Item(item.id, item.at, item.who, item.text, score, item.evidence, sure)
                if item.id in places:
                    notes[places[item.id]] = with_score(merged, max(item.score, score))
                else:
                    found.append(merged)
        others = []
        for place, item in enumerate(local):
            if item.id not in seen:
                if int(item.id[1:]) > more.have[item.id[0] == "t"]:
                    found.insert(min(place, len(found)), item)
                else:
                    others.append(item)
        return _falling(found + others), notes

    def _checked(self, result, query, own: dict):
        ref = result[0]
        if "#" in ref:
            return None if query.tags else own.get(ref) or self._file_line(ref, result, query.caller)
        try:
            number = ids.number("id", ref, "m" if ref[:1] == "m" else "t")
            ref = ref[:1] + str(number)
            if ref in own:
                return own[ref]
            if ref[0] == "m":
                if len(result) == 5 and self._archived and self._archived.may_be_archived(number, query.caller):
                    return _remote_item(ref, result)
                return self._record(ref, number, query)
            if query.tags:
                return None
            if number < self._journal.entries.oldest:
                return _remote_item(ref, result, has_who=True)
            return None if number in query.skip else self._turn(ref, number, query.caller)
        except (ArgumentError, NotFound):
            return None

    def _file_line(self, ref: str, result, caller):
        """Return a line of a file: of the caller's notes, if the board has it so; others are the companion's."""
        item = _remote_item(ref, result)
        name, _, line = ref.partition("#")
        if not item or not (name == MEMORY or is_note(name)):
            return item  # the companion decides who may see it
        if caller.group:
            return None  # notes are private
        notebook = self._notes.for_caller(caller)
        lines = notebook.text(name).split("\n")
        if lines == [""]:
            return None if notebook.is_uncopied(name) else item  # it was emptied just now, or left
        number = int(line) if line.encode().isdigit() else 0
        return item if 0 < number <= len(lines) and item.text.strip() in lines[number - 1] else None

    def _record(self, ref: str, number: int, query):
        record = self._records.get(ref, query.caller)
        if self._records.entries.state(number) != LIVE or self._records.is_expired(record):
            return None
        has_tags = all(fields.tag(tag) in record.get("tags", ()) for tag in query.tags)
        return Item(ref, happened_at(record), "", "", 0, 0, 0) if has_tags else None

    def _turn(self, ref: str, number: int, caller):
        turn = self._journal.live_turn(number)
        if turn is None or "text" not in turn or turn.get("command") or not access.is_shown(caller, turn):
            return None
        return Item(ref, turn["at"], turn["who"], "", 0, 0, 0)


def _remote_item(ref: str, result, has_who: bool = False):
    """Return an item that the board has not, by the companion's text; None without one."""
    if len(result) != 5 or not result[4].strip():
        return None
    who = text.cut(result[3], _WHO_LONGEST) if has_who else ""
    return Item(text.cut(ref, _REF_LONGEST), result[2], who, text.cut(result[4], _LONGEST), 0, 0, 0)


def _falling(items: list) -> list:
    """Return items with scores that never rise, since both sides have their own scale."""
    highest = items[0].score if items else 0
    falling = []
    for item in items:
        highest = min(highest, item.score)
        falling.append(with_score(item, highest))
    return falling
