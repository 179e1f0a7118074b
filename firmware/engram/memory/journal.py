"""The journal: all turns of all sessions, in the log journal.jsonl, and which session is current where.

    {"seq","sid","role","who","text","at","prev","n","scope","cut","command","guess",
     "crc"}                                                                        a turn
    {"seq","sid","role","who","at","prev","n","scope","gone":true,"crc"}           a turn whose text was forgotten
    {"seq","op":"session","sid","title","scope","at","crc"}                        a session begins
    {"seq","op":"current","room","sid","crc"}                                      a room goes on in a session
    {"seq","op":"drop","sid","at","crc"}                                           a session was deleted
    {"seq","op":"redact","turn","at","crc"}                                        a turn was forgotten
    {"seq","op":"show","turn","at","crc"}                                          that was taken back

role is "user" or "assistant", who the speaker's name, prev the seq of the session's turn before (0 for none), n the
turn's place in its session from 0 on, cut true for a reply that the link broke, command true for what was understood
as a command, which no search finds. A session is thus a linked list,
and its window is read back from its newest turn without a scan. A segment's header carries the sessions' heads.
"""

from collections import namedtuple

from engram import log, text
from engram.clock import MONTHS, civil
from engram.compat import const
from engram.errors import ArgumentError, NotFound, StoreFull
from engram.memory import ids, scope
from engram.store.store import FORGOTTEN, LIVE, Entry, Query, no_entry

_TITLE_LONGEST = const(60)
_TEXT_BYTES = const(12000)  # of one turn: its line has to stay below wire.MAX_LINE
_DAY_SECONDS = const(86400)
_ROOMS = const(64)  # rooms whose current session is kept: bounds the header and the heap

Session = namedtuple("Session", ("id", "title", "turns", "at"))
"""A session as people see it: its id, title, number of turns, and when it was last used."""


class _Head:
    """Where a session stands: its newest turn's seq, the number of its turns, when it was last used."""

    def __init__(self, title: str, owner: str, at: int, seq: int = 0, turns: int = 0):
        self.title = title
        self.scope = owner
        self.at = at
        self.seq = seq
        self.turns = turns


class Journal:
    """The turns of a board; at most `sessions` sessions are listed, and `cap` bytes of turns kept."""

    def __init__(self, make_store, clock, sessions: int = 24, cap: int = 786432):
        self._heads = {}
        self._rooms = {}
        self._clock = clock
        self._most_sessions = sessions
        self._cap = cap
        self._store = make_store(self._describe, self._header, self._forget_all)
        self.dropped_segments = 0

    def open(self) -> None:
        """Read the journal."""
        self._store.open()

    # --- what lines mean

    def _forget_all(self) -> None:
        self._heads.clear()
        self._rooms.clear()

    def _header(self):
        """Yield what a segment's header carries: the sessions, so that they survive when old segments leave."""
        yield "sessions", [[sid, h.seq, h.turns, h.at, h.title, h.scope] for sid, h in self._heads.items()]
        yield "rooms", [[room, sid] for room, sid in self._rooms.items()]

    def _describe(self, line: dict) -> Entry:
        if "seq" not in line:
            self._take_header(line)
        elif "op" in line:
            return self._describe_operation(line)
        elif "sid" in line:
            return self._describe_turn(line)
        return no_entry()

    def _describe_turn(self, line: dict) -> Entry:
        seq, sid, at = line["seq"], line["sid"], line["at"]
        head = self._heads.get(sid)
        if head is not None:
            head.seq, head.turns, head.at = seq, line["n"] + 1, at
        self._clock.not_before(at)
        gone = ((seq, FORGOTTEN),) if "gone" in line else ()
        terms = () if gone or "command" in line else self._terms(line)
        return Entry(seq, terms, _labels(line), sid, line.get("prev", 0), at, gone, (), None)

    def _terms(self, line: dict):
        year, month, day = civil((line["at"] + self._clock.zone_minutes * 60) // _DAY_SECONDS)
        yield str(day)
        yield from text.terms(MONTHS[month - 1])
        yield str(year)
        yield from text.terms(line["who"])
        yield from text.terms(line["text"])

    def _describe_operation(self, line: dict) -> Entry:
        operation, at = line["op"], line.get("at", 0)
        if operation == "session":
            self._begin(line["sid"], line.get("title", ""), line.get("scope", scope.ALL), at)
        elif operation == "current":
            self._set_room(line["room"], line["sid"])
        elif operation == "drop":
            self._end(line["sid"])
            return no_entry(at, ends=line["sid"])
        elif operation == "redact":
            return no_entry(at, hides=((line["turn"], FORGOTTEN),))
        elif operation == "show":
            return no_entry(at, shows=(line["turn"],))
        return no_entry(at)

    def _take_header(self, line: dict) -> None:
        # This tells what older segments took along when they left; what is still there says it anew.
        for sid, seq, turns, at, title, owner in line.get("sessions", ()):
            if sid not in self._heads:
                self._heads[sid] = _Head(title, owner, at, seq, turns)
        for room, sid in line.get("rooms", ()):
            if room not in self._rooms:
                self._rooms[room] = sid

    def _begin(self, sid: str, title: str, owner: str, at: int) -> None:
        if len(self._heads) >= self._most_sessions:
            oldest = min(self._heads, key=lambda other: (self._heads[other].at, int(other[1:])))
            self._end(oldest)
        self._heads[sid] = _Head(title, owner, at)

    def _end(self, sid: str) -> None:
        self._heads.pop(sid, None)
        for room in [room for room, current in self._rooms.items() if current == sid]:
            self._rooms.pop(room)

    def _set_room(self, room: str, sid: str) -> None:
        if room not in self._rooms and len(self._rooms) >= _ROOMS:
            self._rooms.pop(next(iter(self._rooms)))
        self._rooms[room] = sid

    # --- sessions

    def current(self, room: str) -> str:
        """The session that a room is in, "" if it has none yet."""
        sid = self._rooms.get(room, "")
        return sid if sid in self._heads else ""

    def begin(self, asker, title: str = "") -> str:
        """Begin a session in the asker's room; its id."""
        lines = self._beginning(asker, title)
        return "s%d" % self._write(lines)

    def _beginning(self, asker, title: str) -> list:
        sid = "s%d" % self._store.next_seq
        title = text.cut(" ".join(text.printable(title).split()), _TITLE_LONGEST)
        opened = [("op", "session"), ("sid", sid), ("title", title)]
        opened += [("scope", scope.own(asker)), ("at", self._clock.now())]
        return [opened, [("op", "current"), ("room", asker.room), ("sid", sid)]]

    def switch(self, asker, ref: str) -> Session:
        """Let the asker's room go on in another session."""
        sid = self._visible(asker, ref)
        self._write([[("op", "current"), ("room", asker.room), ("sid", sid)]])
        return self._session(sid)

    def delete(self, asker, ref: str) -> Session:
        """Delete a session: its turns leave history and search at once, and the flash at the next compaction."""
        sid = self._visible(asker, ref)
        session = self._session(sid)
        self._store.append([("op", "drop"), ("sid", sid), ("at", self._clock.now())], urgent=True)
        return session

    def sessions(self, asker) -> list:
        """The asker's sessions, the one used last first."""
        found = [self._session(sid) for sid, head in self._heads.items() if scope.may_see(asker, head.scope)]
        found.sort(key=lambda session: (-session.at, -int(session.id[1:])))
        return found

    def _session(self, sid: str) -> Session:
        head = self._heads[sid]
        return Session(sid, head.title, head.turns, head.at)

    def _visible(self, asker, ref: str) -> str:
        sid = "s%d" % ids.number("session", ref, "s")
        if sid not in self._heads or not scope.may_see(asker, self._heads[sid].scope):
            raise NotFound("session", sid, "/session list shows those that there are.")
        return sid

    # --- turns

    def add(self, asker, role: str, who: str, content: str, cut: bool = False, command: bool = False) -> int:
        """Append a turn to the session of the asker's room, begun if there is none; the turn's seq.

        It is on flash when this returns. When the flash is full, the journal's oldest segments make room.
        """
        size = len(content.encode())
        if size > _TEXT_BYTES and role == "user":
            raise ArgumentError("message", "has %d bytes, at most %d are kept: send it in parts." % (size, _TEXT_BYTES))
        if size > _TEXT_BYTES:
            content, cut = text.cut_bytes(content, _TEXT_BYTES), True
        sid = self.current(asker.room)
        lines = []
        if not sid:
            sid = "s%d" % self._store.next_seq
            lines = self._beginning(asker, content)
        head = self._heads.get(sid)
        turn = [("sid", sid), ("role", role), ("who", who), ("text", content), ("at", self._clock.now())]
        turn += [("prev", head.seq if head else 0), ("n", head.turns if head else 0)]
        turn += [("scope", head.scope if head else scope.own(asker))]
        if cut:
            turn.append(("cut", True))
        if command:
            turn.append(("command", True))
        if not self._clock.known:
            turn.append(("guess", True))
        lines.append(turn)
        first = self._write(lines)
        while self._store.bytes > self._cap and self._leave():
            pass
        return first + len(lines) - 1

    def _write(self, lines: list) -> int:
        while True:
            try:
                return self._store.append(*lines)
            except StoreFull:
                if not self._leave():
                    raise

    def _leave(self) -> bool:
        """Let the oldest segment go; False if there is none."""
        if not self._store.drop_oldest():
            return False
        self.dropped_segments += 1
        log.warning("journal", "the oldest segment of turns left to make room")
        return True

    def window(self, sid: str, most: int) -> list:
        """The seqs of the session's last turns, oldest first: at most `most` of them.

        The window moves by `step(most)` turns at a time, so that the prompts of turns in a row begin alike.
        """
        head = self._heads.get(sid)
        if head is None:
            return []
        stride = step(most)
        over = max(0, head.turns - most)
        count = head.turns - (over + stride - 1) // stride * stride
        found = []
        for seq in self._store.thread(head.seq):
            if len(found) == count:
                break
            found.append(seq)
        found.reverse()
        return found

    def turn(self, seq: int):
        """A turn as a dict; None if it was forgotten or is not kept any more."""
        return self._store.get(seq)

    def get(self, ref: str, asker, around: int = 0) -> list:
        """A turn and up to `around` turns before and after it in its session; NotFound if the asker sees none."""
        seq = ids.number("id", ref, "t")
        found = self._store.get(seq)
        if found is None or "text" not in found or not scope.may_see(asker, found.get("scope", scope.ALL)):
            raise NotFound("turn", "t%d" % seq, "it may have been forgotten or have left the journal.")
        head = self._heads.get(found["sid"])
        thread = list(self._store.thread(head.seq if head else seq))
        thread.reverse()
        at = thread.index(seq) if seq in thread else 0
        turns = [self._store.get(near) for near in thread[max(0, at - around) : at + around + 1]]
        return [turn for turn in turns if turn is not None]

    def search(self, query: str, limit: int, asker, session: str = "", since: int = 0, until: int = 0, idfs=None):
        """Yield (hit, turn) for at most `limit` turns, best first."""
        labels = ("~" + session,) if session else ()
        wanted = Query(text.terms(query), labels, scope.labels(asker), since, until, self._named(query), idfs)
        for hit in self._store.search(wanted, limit):
            turn = self._store.get(hit.number)
            if turn is not None:
                yield hit, turn

    def frequencies(self, terms) -> tuple:
        """How many turns have each term; see Store.frequencies."""
        return self._store.frequencies(terms)

    def _named(self, query: str) -> str:
        """The label of the speaker whom a query names, "" if it names none or several."""
        words = set(text.words(query))
        named = ""
        for label, _ in self._store.labels("%"):
            if not set(text.words(label)).isdisjoint(words):
                if named:
                    return ""
                named = label
        return named

    def redact(self, ref: str, asker) -> bool:
        """Forget a turn: its text leaves history and search at once, and the flash at the next compaction.

        False if there is no such turn any more.
        """
        try:
            turn = self.get(ref, asker)[0]
        except NotFound:
            return False
        self._store.append([("op", "redact"), ("turn", turn["seq"]), ("at", self._clock.now())], urgent=True)
        return True

    def show(self, ref: str) -> None:
        """Take back that a turn was forgotten; nothing happens if its text has left the flash."""
        seq = ids.number("id", ref, "t")
        line = self._store.line(seq)
        if line is not None and "text" in line:
            self._store.append([("op", "show"), ("turn", seq), ("at", self._clock.now())])

    # --- the whole

    @property
    def bytes(self) -> int:
        """Bytes of the journal on flash."""
        return self._store.bytes

    @property
    def damaged(self) -> int:
        """Lines that were set aside since the journal was opened."""
        return self._store.damaged

    def turns(self) -> int:
        """The number of turns that are kept."""
        return self._store.count()

    def compact(self) -> int:
        """Take what was forgotten off the flash; the bytes saved."""
        return self._store.compact(self._keep)

    def _keep(self, line: dict):
        """What compaction does with a line: True to keep it, False to drop it, or what takes its place."""
        if "op" in line:
            return line.get("sid") in self._heads and line["op"] != "drop"
        if self._store.state(line["seq"]) == LIVE or "gone" in line:
            return True
        if line["sid"] not in self._heads:
            return False
        # The next turn's `prev` points here: the line stays without its text.
        kept = [
            (name, line[name]) for name in ("seq", "sid", "role", "who", "at", "prev", "n", "scope") if name in line
        ]
        return kept + [("gone", True)]


def step(most: int) -> int:
    """By how many turns a window of `most` turns moves: an even number, since turns come in pairs."""
    return max(2, most // 4 // 2 * 2)


def _labels(line: dict):
    yield "~" + line["sid"]
    yield "%" + line["who"]
    yield "@" + line.get("scope", scope.ALL)
