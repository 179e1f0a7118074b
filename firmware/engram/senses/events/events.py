"""Events of senses: each is kept on flash, reported once to whom it concerns, and becomes a memory when it is over.

An event's line names the seqs that the turn and the record will have which follow it: after a power cut, what is missing of the
two is made up for, and what is there is not repeated.
"""

from engram import diag
from engram.compat import const
from engram.errors import EngramError, StoreError
from engram.memory import access
from engram.memory.records import fields as record_fields
from engram.memory.records.records import Draft
from engram.senses.events.event_file import key_of
from engram.senses.events.limits import caller_of
from engram.senses.events.wording import describe, summary

_EVIDENCE = const(10)  # readings before an event's beginning, and again before its end
_HOUR = const(3600)
_MOST_WAITING = const(16)  # events whose chat is away or has much to deliver
_IMPORTANCE = 0.3  # others go before it when memory is short
SOURCE = "sense"
TAG = "sense"


class Events:
    """The events of a board's `senses` in an EventFile; push(caller, text) says something in a chat,
    if may_push(caller).

    `tell` is the owner's room for events that no limit asks for, "" if there is none. Of events of one kind and sense that
    follow each other within `cool_down` seconds only the first is reported. scope_of(sense) is who may see what it perceives,
    add_day(day) adds the line of a day to its note.
    """

    def __init__(
        self, file, senses, clock, records, journal, push, may_push, tell: str, cool_down: int, scope_of, add_day=None
    ):
        self._file = file
        self._senses = senses
        self._clock = clock
        self._records = records
        self._journal = journal
        self._push = push
        self._may_push = may_push
        self._tell = tell
        self._cool_down = cool_down
        self.scope_of = scope_of
        self._is_settled = False
        self._waiting = []
        self._add_day = add_day

    @property
    def open(self) -> dict:
        """The fields of the events that have not ended, by id."""
        return self._file.open

    def newest_first(self, caller, since: int = 0):
        """Yield the fields of the events that a caller may see and that were not over before a moment, newest first."""
        for fields in self._file.newest_first(since):
            if access.may_see(caller, fields.get("scope", access.ALL)):
                yield fields

    @property
    def version(self) -> int:
        """Another number when an event has begun or ended."""
        return self._file.version

    def after(self, number: int, most: int):
        """Yield the fields of the first `most` events after a number, oldest first."""
        return self._file.after(number, most)

    # --- beginning and end

    def begin(self, number: int, kind: str, start: int, value: int, usual, limit):
        """Keep and tell an event of a sense; its fields, None if that is forgotten or whoever set the limit may not see it."""
        self.settle()
        sense = self._senses.sense(number)
        if sense is None:
            return None
        now = self._clock.now()
        by = _by(limit) if limit and limit["id"] else None
        fields: dict = {"id": "e%d" % self._file.next, "sense": number, "name": sense.name, "kind": kind}
        fields.update({"start": start, "value": value, "usual": usual, "by": by, "told": now})
        fields["limit"] = limit[kind] if limit else None
        fields["evidence"] = _evidence(sense, start - _HOUR, now, start)
        fields["scope"] = access.own_scope(caller_of(limit)) if by else self.scope_of(sense)
        if not self._is_seen(fields, sense):
            return None
        caller = self._to_tell(fields)
        is_told = caller is not None and not self._is_cooling_down(fields, now)
        if is_told and self._may_push(caller):
            fields["turn"] = self._journal.next_turn(caller)
        self._keep(fields)
        if "turn" in fields:
            self._say(caller, fields, sense)
        elif is_told and len(self._waiting) < _MOST_WAITING:
            self._waiting.append(fields)
        return fields

    def _tell_waiting(self) -> None:
        """Report one event whose chat was away or had much to deliver, if it is free now."""
        for fields in self._waiting:
            caller, sense = self._to_tell(fields), self._senses.sense(fields["sense"])
            is_seen = sense is not None and self._is_seen(fields, sense)
            if is_seen and not self._may_push(caller):
                continue
            self._waiting.remove(fields)
            if is_seen:
                self._say(caller, fields, sense)
            return

    def end(self, fields: dict, at: int) -> None:
        """An event is over: keep that, and a memory of it."""
        self.settle()
        sense = self._senses.sense(fields["sense"])
        fields["end"] = max(at, fields["start"])
        if sense is not None and self._is_seen(fields, sense):
            later = _evidence(sense, fields["start"] + 1, fields["end"], fields["start"])
            fields["evidence"] = fields.get("evidence", []) + later
            fields["record"] = self._next_record(fields)
        self._keep(fields)
        if fields.get("record"):
            self._remember(fields, sense)

    def _keep(self, fields: dict) -> None:
        try:
            self._file.add(fields)
        except StoreError as error:
            diag.warning("senses", "%s is not on flash: %s" % (fields["id"], error))

    def _is_seen(self, fields: dict, sense) -> bool:
        """Whether whoever set the limit of an event may see its sense: it may be shared no more."""
        caller = self._to_tell(fields) if fields.get("by") else None
        return caller is None or access.may_see(caller, self.scope_of(sense))

    def _to_tell(self, fields: dict):
        """Who gets the report of an event, None if nobody does."""
        by = fields.get("by")
        if by:
            return access.Caller(by[1], by[2], bool(by[3]), by[4])
        return access.Caller(access.OWNER.principal, self._tell, False, "") if self._tell else None

    def _is_cooling_down(self, fields: dict, now: int) -> bool:
        # A moment far ahead comes from a clock that was wrong.
        ended = self._file.ended.get(key_of(fields))
        return ended is not None and -self._cool_down < now - ended < self._cool_down

    def _say(self, caller, fields: dict, sense) -> None:
        try:
            self._push(caller, "%s (%s)" % (describe(fields, sense), fields["id"]))
        except (EngramError, MemoryError) as error:
            diag.warning("senses", "%s was not told: %s" % (fields["id"], error))

    def _remember(self, fields: dict, sense) -> None:
        """Keep a memory of an event that is over; not compared with others, which only look alike."""
        try:
            tags = [TAG, sense.name] if record_fields.tag(sense.name) != TAG else [TAG]
            values = {"content": summary(fields, sense, self._clock), "tags": tags, "type": "event", "source": SOURCE}
            values["scope"] = fields["scope"]
            checked = {name: record_fields.check(name, value, self._records.limit) for name, value in values.items()}
            checked.update({"importance": _IMPORTANCE, "created": self._clock.now()})
            self._records.keep((Draft("", checked, [], "", 0),))
        except (EngramError, MemoryError) as error:
            diag.warning("senses", "%s is not among the memories: %s" % (fields["id"], error))

    def _next_record(self, fields: dict):
        """The id that the next memory will have, None if there is no room for it."""
        try:
            self._records.check_room()  # now, since what makes room writes lines
        except StoreError as error:
            diag.warning("senses", "%s is not among the memories: %s" % (fields["id"], error))
            return None
        return "m%d" % self._records.entries.next_seq

    # --- after a restart

    def settle(self) -> None:
        """Before anything else: once after a start tell and remember what the power failed before, then tell what waits."""
        if self._is_settled:
            self._tell_waiting()
            return
        self._is_settled = True
        # Each line is written right before what it announces, so only the last one may lack that.
        fields = self._file.last
        sense = self._senses.sense(fields["sense"]) if fields else None
        if sense is None or not self._is_seen(fields, sense):
            return
        if "end" in fields:
            if int((fields.get("record") or "m0")[1:]) >= self._records.entries.next_seq:
                self._remember(fields, sense)
        elif fields.get("turn", 0) > self._journal.newest:
            self._say(self._to_tell(fields), fields, sense)

    def end_day(self, day: int) -> None:
        """A day has begun, counted from 1970: add the line of the one before to its note."""
        if self._add_day:
            self._add_day(day - 1)


def _by(limit: dict) -> list:
    """What an event's line says of who set its limit."""
    return [limit["id"], limit["who"], limit["room"], bool(limit.get("group")), limit.get("workspace") or ""]


def _evidence(sense, first: int, last: int, start: int) -> list:
    """Some readings between two moments, spread over them: [seconds after the beginning of the event, reading]."""
    found = [[at - start, value] for at, value in sense.raw or () if first <= at <= last]
    count = len(found)
    if count <= _EVIDENCE:
        return found
    return [found[(count - 1) * part // (_EVIDENCE - 1)] for part in range(_EVIDENCE)]
