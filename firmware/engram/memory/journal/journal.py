"""The journal: all turns of all sessions, in the log journal.jsonl, and which session is current where.

schema.py tells what its lines look like and mean. Each turn names the one before it in its session, so a session is a
linked list, and its window is read back from its newest turn without a scan; the index gives the same list faster.
"""

from collections import namedtuple

from engram import diag, text
from engram.errors import NotFound, StoreFull
from engram.memory import access, ids, line_meaning, outdated
from engram.memory.journal.gists import Gists
from engram.memory.journal.schema import cut_to, fitting_text, is_said, room_of, title_of
from engram.memory.journal.seen_messages import SeenMessages
from engram.memory.journal.unkept import UnkeptTurns
from engram.store.types import LIVE, Query

_CAPTION_BYTES = const(600)
_QUOTED_BYTES = const(400)
_ROOM_SHARE = const(8)  # of the cap: so much is kept free where a companion takes turns: a segment or more
_WHO_BYTES = const(120)  # of a speaker's name
_NEAR = const(256)  # lines that are looked through for the turns that follow one in its session
_TITLE_BYTES = const(90)  # all sessions' titles share one line, a segment's header

Session = namedtuple("Session", "id title turns at")
"""A session's id, title, number of turns and last use."""


class Journal:
    """The turns of a board, up to `cap` bytes; `link_state` is None without a companion.

    A person's message `idle_seconds` after the one before begins a new session, unless they are 0.
    """

    def __init__(self, store, turn_schema, clock, cap: int, link_state, idle_seconds: int = 0):
        self.entries = store
        self._schema = turn_schema
        self._clock = clock
        self._cap = cap
        self._link_state = link_state
        self._idle_seconds = idle_seconds
        self._seen = None
        self.unkept = UnkeptTurns(clock)
        self.gists = Gists(store)
        self.on_redacted = lambda turn, caller: None
        """Handles (id, caller) of each turn that redact() hides."""
        self.dropped_segments = 0
        self.unsent = 0
        """Lines that left before the companion had them."""

    # --- sessions

    @property
    def _sessions(self):
        # After an interrupt (Ctrl-C) a turn may be on flash that the sessions do not know yet.
        self.entries.ready()
        return self._schema

    @property
    def _heads(self) -> dict:
        return self._sessions.heads

    def current(self, caller) -> str:
        return self._sessions.current(caller)

    def begin(self, caller, title: str = "") -> str:
        return "s%d" % self._write(self._beginning(caller, text.cut_bytes(title_of(title), _TITLE_BYTES)))

    def _beginning(self, caller, title: str) -> list:
        self.gists.drop(self.current(caller))
        sid = "s%d" % self.entries.next_seq
        opened = [("op", "session"), ("sid", sid), ("title", title)]
        opened += [("scope", access.own_scope(caller)), ("at", self._clock.now())]
        return [opened, [("op", "current"), ("room", room_of(caller)), ("sid", sid)]]

    def switch(self, caller, ref: str) -> Session:
        sid = self._sessions.visible(caller, ref)
        self._write([[("op", "current"), ("room", room_of(caller)), ("sid", sid), ("at", self._clock.now())]])
        return self._session(sid)

    def delete(self, caller, ref: str) -> Session:
        """Hide a session at once, and remove it at the next compaction."""
        sid = self._sessions.visible(caller, ref)
        session = self._session(sid)
        self.gists.drop(sid)
        self.entries.append([("op", "drop"), ("sid", sid), ("at", self._clock.now())], urgent=True)
        return session

    def sessions(self, caller):
        """Yield the caller's sessions, last used first."""
        for sid in self._sessions.seen_by(caller):
            yield self._session(sid)

    def _session(self, sid: str) -> Session:
        head = self._heads[sid]
        title = head.title
        for seq in () if title else (head.first, head.seq):
            turn = self.entries.get(seq)
            title = title or title_of(line_meaning.attributed_text(turn) if turn else "")
        return Session(sid, title, head.turns, head.at)

    # --- turns

    def add(
        self,
        caller,
        role: str,
        who: str,
        content: str,
        cut: bool = False,
        command: bool = False,
        caption: str = "",
        mid: str = "",
        answers: int = 0,
        to: str = "",
        at: int = 0,
        forwarded: str = "",
        quoted: str = "",
        sensed: bool = False,
        corrects: int = 0,
        redacts=(),
    ) -> int:
        """Append a turn and return its seq, once per `mid`; it is on flash, redactions in the same flush."""
        # A full flash drops the oldest segments. `caption` is of a picture in the turn, `answers` the seq of the
        # turn that it replies to, `to` the room of a message by the board itself, `at` its moment (0: now),
        # `sensed` marks a perception. `redacts` are forgotten seqs, `corrects` the seq that it replaces.
        known = self.seen.find(mid) if mid else None
        if known:
            return known["seq"]
        fitting = fitting_text(content, role)
        at = at or self._clock.now()
        sid = self.current(caller)
        head = self._heads.get(sid)
        is_idle = head and head.turns and at - head.at >= self._idle_seconds > 0
        if is_idle and is_said({"role": role, "command": command, "sensed": sensed}):
            sid = ""
        lines = [] if sid else self._beginning(caller, "")
        for seq in redacts:
            self.drop_gist(seq)
        redacted = [[("op", "redact"), ("turn", seq), ("at", self._clock.now())] for seq in redacts]
        turn = self._turn(caller, sid or "s%d" % self.entries.next_seq)
        turn += [("role", role), ("who", cut_to(who, _WHO_BYTES)), ("text", fitting), ("at", at)]
        if caller.workspace and not caller.group:
            turn.append(("workspace", caller.workspace))
        for name, value, most in (
            ("caption", caption, _CAPTION_BYTES),
            ("forwarded", forwarded, _WHO_BYTES),
            ("quoted", quoted, _QUOTED_BYTES),
        ):
            if value:
                turn.append((name, cut_to(text.printable(" ".join(value.split())), most)))
        reply_to = 0 if turn[1][1] == answers else answers
        marks = (
            ("mid", mid),
            ("re", reply_to),
            ("to", to),
            ("corrects", corrects),
            ("cut", cut or fitting != content),
            ("command", command),
            ("sensed", sensed),
            ("guess", not self._clock.known),
        )
        lines += redacted
        lines.append(turn + [mark for mark in marks if mark[1]])
        seq = self._write(lines) + len(lines) - 1
        if mid:
            self.seen.note(mid, seq)
        while self.entries.bytes > self._cap and self._drop_oldest():
            pass
        return seq

    @property
    def seen(self) -> SeenMessages:
        if self._seen is None:
            self._seen = SeenMessages(self)
        return self._seen

    def note_command(self, mid: str) -> int:
        seq = self._write([[("op", "command"), ("mid", mid), ("at", self._clock.now())]])
        self.seen.note(mid, seq)
        return seq

    def note_acted(self, seq: int) -> None:
        """Note that a turn did something that no correction takes back."""
        self._write([[("op", "acted"), ("turn", seq), ("at", self._clock.now())]])

    def next_turn(self, caller) -> int:
        """Return the seq that add() will give the caller's next turn."""
        return self.newest + (1 if self.current(caller) else 3)

    def _turn(self, caller, sid: str) -> list:
        head = self._heads.get(sid)
        if head is None:
            return [("sid", sid), ("prev", 0), ("n", 0), ("scope", access.own_scope(caller))]
        return [("sid", sid), ("prev", head.seq), ("n", head.turns), ("scope", head.scope)]

    def _write(self, lines: list) -> int:
        while True:
            try:
                return self.entries.append(*lines)
            except StoreFull:
                if not self._drop_oldest():
                    return self.entries.append(*lines, urgent=True)

    def _drop_oldest(self) -> bool:
        oldest, last = self.entries.oldest, self.last_of_oldest()
        if not self._drop_segment(last):
            return False
        unsent = last - max(oldest - 1, self._link_state.have("journal")) if self._link_state else 0
        if unsent > 0:
            self.unsent += unsent
            diag.error("journal", "%d lines left that the companion does not have: there was no room" % unsent)
        self.dropped_segments += 1
        diag.warning("journal", "the oldest segment of turns left to make room")
        return True

    def last_of_oldest(self) -> int:
        """Return the last seq of the oldest sealed segment, 0 if there is none."""
        sealed = self.entries.log.sealed
        if not sealed:
            return 0
        return (sealed[1][1] if len(sealed) > 1 else self.entries.log.first) - 1

    def surplus(self) -> int:
        """Return the seq up to which turns should move to a companion, 0 if there is enough room."""
        return self.last_of_oldest() if self.entries.bytes > self._cap - self._cap // _ROOM_SHARE else 0

    def archive(self, last: int) -> bool:
        """Drop the oldest segment, which ends with that seq and is with the companion."""
        return self.last_of_oldest() == last and self._drop_segment(last)

    def _drop_segment(self, last: int) -> bool:
        if last and self._link_state:
            self._link_state.leaving("journal", last)
        return self.entries.drop_oldest()

    def window(self, sid: str, most: int) -> list:
        """Return the last turns' seqs, oldest first; windows move by `step(most)` to keep prompts alike."""
        head = self._heads.get(sid)
        if head is None:
            return []
        stride = step(most)
        over = max(0, head.turns - most)
        count = head.turns - (over + stride - 1) // stride * stride
        found = []
        for seq in self._thread(sid):
            if len(found) == count:
                break
            found.append(seq)
        found.reverse()
        return found

    def untold(self, sid: str, workspace: str, most: int) -> list:
        """Return the last live turns of a workspace that a gist does not tell, oldest first; [] if the session is over."""
        found, until = [], self.gists.of(sid, workspace)[0]
        for seq in self._thread(sid) if self._sessions.is_open(sid) else ():
            if seq <= until or len(found) == most:
                break
            turn = self.live_turn(seq)
            if turn and "text" in turn and not turn.get("command") and turn.get("workspace", "") == workspace:
                found.append(turn)
        found.reverse()
        return found

    def _thread(self, sid: str):
        head = self._heads.get(sid)
        if head is None or self.entries.partial:
            return self._chain(head.seq if head else 0)
        return self.entries.thread(ids.number("session", sid, "s"))

    def _chain(self, seq: int):
        """Yield the seqs of a session's turns backwards from one, by the lines' own links."""
        while seq:
            yield seq
            line = self.entries.line(seq)
            previous = line.get("prev", 0) if line else 0
            seq = previous if 0 < previous < seq else 0

    def knows(self, caller) -> bool:
        return bool(self._sessions.seen_by(caller))

    def turn(self, seq: int):
        """Return a turn as a dict, None if it is gone or forgotten; one that is not kept has a seq below 0."""
        return self.entries.get(seq) if seq > 0 else self.unkept.turn(seq)

    def live_turn(self, seq: int):
        """Return a live turn as a dict, None if it is outdated too."""
        state, turn = self.entries.state_and_latest(seq)
        return turn if state == LIVE else None

    def later(self, seq: int):
        while seq < self.newest:
            # Those that have left make no work, however many they are.
            seq = max(seq + 1, self.entries.oldest)
            turn = self.entries.get(seq)
            if turn is not None and "text" in turn:
                yield turn

    def newest_said(self, caller):
        """Yield (id, moment, who, text) of what people said that a caller is shown, newest first, without commands."""
        for seq in range(self.newest, self.entries.oldest - 1, -1):
            turn = self.live_turn(seq)
            if not turn or turn.get("role") != "user" or turn.get("command"):
                continue
            if "text" in turn and access.is_shown(caller, turn):
                yield "t%d" % seq, turn["at"], turn["who"], turn["text"]

    def get(self, ref: str, caller, around: int = 0) -> list:
        """Return a turn with up to `around` neighbours on each side; NotFound."""
        turns = self._with_neighbours(self._found(ref, caller), around)
        return [turn for turn in turns if turn is not None and access.may_see_line(caller, turn)]

    def has(self, ref: str, caller) -> bool:
        return _is_seen(self.entries.get(ids.number("id", ref, "t")), caller)

    def _found(self, ref: str, caller) -> dict:
        seq = ids.number("id", ref, "t")
        found = self.entries.get(seq)
        if not found or "text" not in found or not access.is_shown(caller, found):
            raise NotFound("turn", "t%d" % seq, "it may have been forgotten or have left the journal.")
        return found

    def _with_neighbours(self, turn: dict, around: int) -> list:
        turns = []
        for seq in self._chain(turn["seq"]):
            turns.append(turn if seq == turn["seq"] else self.entries.get(seq))
            if len(turns) > around:
                break
        turns.reverse()
        for later in self.later(turn["seq"]) if around else ():
            if later["seq"] > turn["seq"] + _NEAR:
                break
            if later["sid"] == turn["sid"]:
                turns.append(later)
                around -= 1
            if not around:
                break
        return turns

    def search(self, query, limit: int, session: str = "", weights=None):
        """Yield (hit, turn) for at most `limit` matches of a memory.recall.Query, best first."""
        labels = ("~" + session,) if session else ()
        terms, scopes = line_meaning.query_terms(query.text, weights), access.labels(query.caller)
        speaker = self._named(query.text, query.caller)
        wanted = Query(
            terms, labels, scopes, query.since, query.until, speaker, weights, line_meaning.asks_replies(query.text)
        )
        sid = self.current(query.caller) if query.skip else ""
        own = (max(query.skip), ids.number("session", sid, "s")) if sid else ()
        for hit in self.entries.search(wanted, limit, query.skip, own):
            yield hit, hit.line

    def _named(self, query: str, caller) -> str:
        """Return the label of the only visible speaker in a query, or ""."""
        scopes = access.labels(caller)
        return line_meaning.named_speaker(
            query, self.entries.names("%"), lambda label: self.entries.is_used(label, scopes)
        )

    def redact(self, ref: str, caller) -> None:
        """Hide a turn at once, and remove its text at the next compaction."""
        turn = self._found(ref, caller)
        self.drop_gist(turn["seq"])
        self.entries.append([("op", "redact"), ("turn", turn["seq"]), ("at", self._clock.now())], urgent=True)
        self.on_redacted("t%d" % turn["seq"], caller)

    def drop_gist(self, seq: int) -> None:
        """Forget the gists that may tell a turn; StoreError."""
        self.gists.drop((self.entries.line(seq) or {}).get("sid"), seq)

    def show(self, ref: str, caller) -> None:
        """Show a forgotten turn again, if its text remains, the caller owns it and its session was not deleted."""
        seq = ids.number("id", ref, "t")
        line = self.entries.line(seq)
        if not _is_seen(line, caller):
            return
        # A session may only have left the list; while the index is rebuilt it does not know.
        is_left = not (self.entries.partial or self.entries.seqs_with_label("=" + line["sid"]))
        if is_left or line["sid"] in self._heads:
            self.entries.append(outdated.last_mark(self.entries, seq) or outdated.shown(seq, self._clock.now()))

    # --- the whole

    @property
    def newest(self) -> int:
        return self.entries.next_seq - 1

    def compacting(self):
        return self.entries.compacting(lambda line: self._sessions.kept(line, self.entries))


def _is_seen(line, caller) -> bool:
    return line is not None and "text" in line and access.may_see_line(caller, line)


def step(most: int) -> int:
    """Return the even step of a window of `most` turns, which come in pairs."""
    return max(2, most // 4 // 2 * 2)
