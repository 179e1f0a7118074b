"""Reads lines of the journal for the store, and keeps the sessions that they tell of.

    {"seq","sid","role","who","text","caption","at","prev","n","scope","workspace","mid","re","to","cut","command",
     "forwarded","quoted","corrects","sensed","guess","crc"}                       a turn
    {"seq","sid","role","who","at","prev","n","scope","gone":true,"crc"}           a turn whose text was forgotten
    {"seq","op":"session","sid","title","scope","at","crc"}                        a session begins
    {"seq","op":"current","room","sid","at","crc"}                                 a room goes on in a session
    {"seq","op":"drop","sid","at","crc"}                                           a session was deleted
    {"seq","op":"redact","turn","at","crc"}                                        a turn was forgotten
    {"seq","op":"past","turn","by","at","crc"}                                     what it says holds no longer
    {"seq","op":"show","turn","at","crc"}                                          one of these two was taken back
    {"seq","op":"command","mid","at","crc"}                                        a command was about to run
    {"seq","op":"acted","turn","at","crc"}                                         a turn did what no correction takes back

role is "user" or "assistant", who the speaker's name, workspace the one in which it was said, if in any, caption what a
picture that came with the turn shows, mid the network's own id of the message, re the turn that it replies to if that is not
the one before, to the room to which the board says it by itself, prev the seq of the session's turn before (0 for none), n the
turn's place in its session from 0 on, cut true for a reply that the link broke, command true for what was understood as a
command, which no search finds, forwarded who wrote what the speaker only forwards, quoted the first line of what it answers,
corrects the seq of the turn in whose place it was said, sensed true for what the board itself perceived. A title is kept only
if a person gave it: a session without one is called by its first turn, so that no text stands in two places when it is
forgotten. A switch to an earlier session has at: it counts as use, as what people say there does. by is the id of the record
that says what holds instead of a turn.

The sessions, the newest turn of each, and the current session of each room are in RAM; the journal's segments and its index
keep them as of where they begin:
    {"sessions":[[sid,seq of the newest turn,turns,at,title,scope,seq of the first turn],..], "rooms":[[room,sid],..]}
"""

from collections import namedtuple

from engram import text
from engram.errors import ArgumentError, NotFound
from engram.memory import ALL, access, ids, line_meaning
from engram.store.types import LIVE, SUPERSEDED, Entry

SESSIONS = 24  # that are listed: each takes heap, and bytes of a header that one step writes
_ROOMS = const(64)  # rooms whose current session is kept: bounds the header, which is one line, and the heap
TEXT_BYTES = 15000
"""Maximum bytes of one text as JSON: its line has to stay below log_line.MAX_LINE."""

_COMMANDS = const(256)  # newest lines among which those of commands are kept
_OF_TEXT = const(("text", "caption", "forwarded", "quoted", "workspace", "cut", "command", "sensed", "gone"))
_TITLE_LONGEST = const(60)

SessionHead = namedtuple("SessionHead", "sid seq turns at title scope first")
"""A session's first seq, newest seq, count and last use by a person; a shared tuple to save heap."""


class TurnSchema:
    """The owner of the journal's log; a full list drops a session of whoever has the most."""

    def __init__(self, clock):
        self._clock = clock
        self._rooms = {}
        self.heads = {}

    # --- for the store

    def describe(self, line: dict) -> Entry:
        return line_meaning.describe_turn(line, self._clock.zone_minutes)

    def observe(self, line: dict) -> None:
        operation = line.get("op")
        if not line_meaning.is_known_turn(line):
            return
        if operation is None:
            self._add_turn(line)
            self._clock.not_before(line["at"])
        elif operation == "session":
            self._begin(line["sid"], line.get("title", ""), line.get("scope", ALL), line["at"])
        elif operation == "current":
            self._enter(line["room"], line["sid"], line.get("at", 0))
        elif operation == "drop":
            self._end(line["sid"])

    def state(self) -> dict:
        """Return the state after all lines so far."""
        return {"sessions": list(self.heads.values()), "rooms": [[room, sid] for room, sid in self._rooms.items()]}

    def restore(self, state) -> None:
        """Restore a state, or reset it with None."""
        self.heads.clear()
        self._rooms.clear()
        scopes = {}  # each once: most sessions are of one scope
        for sid, seq, count, at, title, scope, first in state["sessions"] if state else ():
            scope = scopes.setdefault(scope, scope)
            self.heads[sid] = SessionHead(sid, seq, count, at, title, scope, first)
        for room, sid in state["rooms"] if state else ():
            self._rooms[room] = sid

    def kept(self, line: dict, entries):
        """Return True to keep a line in a compaction, False to drop it, or its replacement."""
        if "op" in line:
            return self._kept_operation(line, entries)
        if entries.state(line["seq"], line) in (LIVE, SUPERSEDED):
            return True
        if "gone" in line and line["sid"] in self.heads:
            return True
        if line["sid"] not in self.heads:
            return False
        # The next turn's `prev` points here: the line stays without its text.
        return _without(line, _OF_TEXT) + [("gone", True)]

    def _kept_operation(self, line: dict, entries):
        if line["op"] in ("redact", "show"):
            # Done: the turn has no text any more, or is as it was.
            return False
        if line["op"] == "past":
            return entries.state(line["turn"]) == SUPERSEDED
        if line["op"] in ("command", "acted"):
            # Networks repeat no command, and people correct no message, of that age.
            return line["seq"] > entries.next_seq - 1 - _COMMANDS
        if line.get("title") and line["sid"] not in self.heads:
            return _without(line, ("title",))
        return True

    # --- the sessions

    def _begin(self, sid: str, title: str, scope: str, at: int) -> None:
        while len(self.heads) >= SESSIONS:
            self._end(self._first_to_go(scope))
        self.heads[sid] = SessionHead(sid, 0, 0, at, title, scope, 0)

    def _add_turn(self, line: dict) -> None:
        sid, seq = line["sid"], line["seq"]
        head = self.heads.get(sid)
        if head is not None:
            place = line.get("n", head.turns)
            first = head.first if place else seq
            at = line["at"] if is_said(line) else head.at
            self.heads[sid] = SessionHead(head.sid, seq, place + 1, at, head.title, head.scope, first)

    def _first_to_go(self, scope: str) -> str:
        """Return the session to drop: of whoever has the most, without a title and least recently used."""
        counts = {scope: 1}
        for head in self.heads.values():
            counts[head.scope] = counts.get(head.scope, 0) + 1
        most = max(counts[head.scope] for head in self.heads.values())
        those = [sid for sid, head in self.heads.items() if counts[head.scope] == most]
        current = self._rooms.values()
        kept = {sid: bool(self.heads[sid].title) or sid in current for sid in those}
        return min(those, key=lambda sid: (kept[sid], self.heads[sid].at, int(sid[1:])))

    def _end(self, sid: str) -> None:
        self.heads.pop(sid, None)
        for room in [room for room, current in self._rooms.items() if current == sid]:
            self._rooms.pop(room)

    def _enter(self, room: str, sid: str, at: int) -> None:
        if room not in self._rooms:
            while len(self._rooms) >= _ROOMS:
                self._rooms.pop(min(self._rooms, key=self._last_used))
        self._rooms[room] = sid
        head = self.heads.get(sid)
        if head and at:
            self.heads[sid] = SessionHead(sid, head.seq, head.turns, at, head.title, head.scope, head.first)

    def _last_used(self, room: str) -> tuple:
        head = self.heads.get(self._rooms[room])
        return (head.at if head else 0, room)

    def current(self, caller) -> str:
        """Return the current session of the caller's room, "" if none is visible."""
        sid = self._rooms.get(room_of(caller), "")
        return sid if self._is_of(caller, sid) else ""

    def is_open(self, sid: str) -> bool:
        """True if a session is the current one of a room."""
        return sid in self._rooms.values()

    def visible(self, caller, ref: str) -> str:
        """Return the id of a visible session; NotFound."""
        sid = "s%d" % ids.number("session", ref, "s")
        if not self._is_of(caller, sid):
            raise NotFound("session", sid, "/session list shows those that there are.")
        return sid

    def seen_by(self, caller) -> list:
        """Return the ids of the caller's sessions, last used first."""
        found = [sid for sid in self.heads if self._is_of(caller, sid)]
        found.sort(key=lambda sid: (-self.heads[sid].at, -int(sid[1:])))
        return found

    def _is_of(self, caller, sid: str) -> bool:
        """True if a caller's words belong in a session; private ones never go to a group's."""
        return sid in self.heads and self.heads[sid].scope == access.own_scope(caller)


def room_of(caller) -> str:
    """Return a room's key; a private one includes the principal in case a channel mixes up rooms."""
    return caller.room if caller.group or access.is_owner(caller) else caller.room + "\n" + caller.principal


def is_said(turn: dict) -> bool:
    """True if a person said a turn, other than as a command."""
    return turn["role"] == "user" and not turn.get("command") and not turn.get("sensed")


# --- the texts of lines


def title_of(content: str) -> str:
    return text.cut(" ".join(text.printable(content).split()), _TITLE_LONGEST)


def fitting_text(content: str, role: str) -> str:
    """Return a turn's text for a line: a reply is cut, a long message raises ArgumentError."""
    if not isinstance(content, str) or not content.strip():
        raise ArgumentError("message", "must be a text that is not empty.")
    size = json_bytes(content)
    if size > TEXT_BYTES and role == "user":
        raise ArgumentError("message", "has %d bytes, at most %d are kept: send it in parts." % (size, TEXT_BYTES))
    return cut_to(content, TEXT_BYTES)


def cut_to(content: str, most: int) -> str:
    """Return the beginning of a text that takes at most `most` bytes in a line."""
    size = json_bytes(content)
    while size > most:
        content = text.cut_bytes(content, len(text.encode(content)) * most // size)
        size = json_bytes(content)
    return content


def json_bytes(content: str) -> int:
    """Return the bytes of a text escaped for a line, or fewer if it is too long."""
    if len(content) > TEXT_BYTES:
        return len(content)
    return len(text.encode(text.dumps(content))) - 2


def _without(line: dict, names) -> list:
    return [("seq", line["seq"])] + [(name, line[name]) for name in line if name != "seq" and name not in names]
