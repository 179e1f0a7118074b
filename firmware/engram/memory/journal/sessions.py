"""The sessions, the newest turn of each, and the current session of each room.

Kept in RAM, from the journal's lines; the journal's segments and its index keep it as of where they begin:
    {"sessions":[[sid,seq of the newest turn,turns,at,title,scope,seq of the first turn],..], "rooms":[[room,sid],..]}
"""

from engram import text
from engram.compat import const
from engram.errors import NotFound
from engram.memory import access, ids

_TITLE_LONGEST = const(60)
_TITLE_BYTES = const(90)  # the titles of all sessions stand in one line, a segment's header
_ROOMS = const(64)  # rooms whose current session is kept: bounds the header and the heap
_ROOMS_BYTES = const(3500)  # of their names: they stand in one line, a segment's header
_A_ROOM = const(16)  # bytes beside a room's name


class SessionHead:
    """Where a session stands: its first and newest turn's seq, the number of its turns, when it was last used."""

    def __init__(self, title: str, owner: str, at: int, seq: int = 0, turns: int = 0, first: int = 0):
        self.title = title
        self.scope = owner
        self.at = at
        self.first = first
        self.seq = seq
        self.turns = turns

    def add_turn(self, seq: int, place: int, at: int) -> None:
        """Note the newest turn; `place` is its place in the session, from 0 on."""
        self.seq, self.turns, self.at = seq, place + 1, at
        if not place:
            self.first = seq


class Sessions:
    """The sessions that are listed, at most `most`: of who has the most, the one that was not used for longest gives way."""

    def __init__(self, most: int):
        self._most = most
        self._rooms = {}
        self.heads = {}

    def state(self) -> dict:
        """All that is known, for a segment's header."""
        sessions = [[sid, h.seq, h.turns, h.at, h.title, h.scope, h.first] for sid, h in self.heads.items()]
        return {"sessions": sessions, "rooms": [[room, sid] for room, sid in self._rooms.items()]}

    def restore(self, state) -> None:
        """Know what such a state says and nothing else; nothing at all if it is None."""
        self.heads.clear()
        self._rooms.clear()
        for sid, seq, count, at, title, owner, first in state["sessions"] if state else ():
            self.heads[sid] = SessionHead(title, owner, at, seq, count, first)
        for room, sid in state["rooms"] if state else ():
            self._rooms[room] = sid

    def begin(self, sid: str, title: str, owner: str, at: int) -> None:
        """Add a session."""
        while len(self.heads) >= self._most:
            self.end(self._first_to_go(owner))
        self.heads[sid] = SessionHead(title, owner, at)

    def _first_to_go(self, owner: str) -> str:
        """The session that gives way to a new one: of who has the most, so that one who begins many takes none of others."""
        counts = {owner: 1}
        for head in self.heads.values():
            counts[head.scope] = counts.get(head.scope, 0) + 1
        most = max(counts[head.scope] for head in self.heads.values())
        those = [sid for sid, head in self.heads.items() if counts[head.scope] == most]
        return min(those, key=lambda sid: (self.heads[sid].at, int(sid[1:])))

    def end(self, sid: str) -> None:
        """Take a session off the list."""
        self.heads.pop(sid, None)
        for room in [room for room, current in self._rooms.items() if current == sid]:
            self._rooms.pop(room)

    def enter(self, room: str, sid: str) -> None:
        """Continue a session in a room."""
        if room not in self._rooms:
            taken = _in_header(room)
            while self._rooms and (len(self._rooms) >= _ROOMS or taken + self._bytes() > _ROOMS_BYTES):
                self._rooms.pop(min(self._rooms, key=self._last_used))
        self._rooms[room] = sid

    def _bytes(self) -> int:
        return sum(_in_header(room) for room in self._rooms)

    def _last_used(self, room: str) -> tuple:
        head = self.heads.get(self._rooms[room])
        return (head.at if head else 0, room)

    def current(self, caller) -> str:
        """The session that the caller's room is in, "" if it has none yet that this caller may see."""
        sid = self._rooms.get(room_of(caller), "")
        return sid if self._is_of(caller, sid) else ""

    def visible(self, caller, ref: str) -> str:
        """The id of a session that the caller names; NotFound if there is none for this caller."""
        sid = "s%d" % ids.number("session", ref, "s")
        if not self._is_of(caller, sid):
            raise NotFound("session", sid, "/session list shows those that there are.")
        return sid

    def seen_by(self, caller) -> list:
        """The ids of the caller's sessions, the one used last first."""
        found = [sid for sid in self.heads if self._is_of(caller, sid)]
        found.sort(key=lambda sid: (-self.heads[sid].at, -int(sid[1:])))
        return found

    def _is_of(self, caller, sid: str) -> bool:
        """Whether a session is one in which what the caller says has its place: a group's is not for what is private."""
        return sid in self.heads and self.heads[sid].scope == access.own_scope(caller)


def room_of(caller) -> str:
    """The name by which a room's session is kept: a private one's has the principal too, should a channel mix up rooms."""
    return caller.room if caller.group or access.is_owner(caller) else caller.room + "\n" + caller.principal


def _in_header(room: str) -> int:
    return len(text.encode(text.dumps(room))) + _A_ROOM


def title_of(content: str) -> str:
    """A text as a session's title: one line, cut."""
    return text.cut(" ".join(text.printable(content).split()), _TITLE_LONGEST)


def kept_title(content: str) -> str:
    """A title that a person gave, in the form in which it is stored."""
    return text.cut_bytes(title_of(content), _TITLE_BYTES)
