"""Flushes unread turns that are about to leave the window: in a silent turn the model may save what should
last.

It runs in the background in a pause before the window moves, and never delays messages: without a pause,
turns leave first and are shown from the journal in the next one, oldest first.
"""

from engram import diag
from engram.agent import tool_loop
from engram.agent.agent import Sink, Turn
from engram.agent.answer import Reply
from engram.compat import const
from engram.errors import EngramError
from engram.learning.jobs import Pause
from engram.memory.access import Caller

_EARLY = const(2)  # turns before they leave: a pause comes before the window moves
_SESSIONS = const(4)  # that may wait for their last look at once
_MOST = const(200)  # turns of one session: of more, the older ones were there before this was on, or a model

_KEEPING = const(
    ("memory_store", "memory_update", "memory_recall", "note_add", "file_read", "file_append", "file_edit")
)

_SYSTEM = const("These turns are about to leave your view. Keep what should last; nobody reads your answer.")
_PROMPT = const(
    "(No message of the person: keep what in the turns above will matter later and is not kept yet, with your tools; "
    "then answer NO_REPLY. If there is nothing to keep, answer NO_REPLY at once.)"
)


class Flush:
    name = "flush"

    def __init__(self, config, records, journal, cursor, tools, prompts, model, extraction):
        self._config = config
        self._records = records
        self._journal = journal
        self._cursor = cursor
        self._tools = tools
        self._prompts = prompts
        self._model = model
        self._extraction = extraction
        self._sessions = {}
        self.pause = Pause("flush")
        self.done = 0

    def turn_over(self, caller, sid: str) -> None:
        """Note the end of a session's turn, whose window may move next."""
        if self._config.get("flush.on") and not (caller.group and self._config.get("mode") != "full"):
            self._sessions.pop(sid, None)
            self._sessions[sid] = caller
            while len(self._sessions) > _SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))

    def is_due(self) -> bool:
        return bool(self._sessions) and self.pause.is_over and not self._extraction.can_read()

    async def step(self) -> None:
        """Show some of one session's leaving turns; it stays due until none are left."""
        sid, caller = next(iter(self._sessions.items()))
        turns = []
        try:
            turns = self._leaving(caller, sid)
            if turns:
                await self._show(caller, sid, turns)
        except EngramError as error:
            self.pause.fail(error)
            # Another session is next.
            self._sessions[sid] = self._sessions.pop(sid)
            return
        self.pause.end()
        # A new message has put the session there again.
        if not turns and self._sessions.get(sid) is caller:
            del self._sessions[sid]

    def _leaving(self, caller, sid: str) -> list:
        """Return the oldest unseen turns that leave the window, at most a window's worth."""
        config, cursor, journal = self._config, self._cursor, self._journal
        staying = self._prompts.staying(caller, sid, _EARLY)
        seen = cursor.flushed.get(sid, 0)
        if config.get("mode") == "full":
            seen = max(seen, cursor.until)
        first = staying[0] if staying else journal.newest + 1
        found = []
        for seq in journal.before(sid, first):
            if seq <= seen or len(found) == _MOST:
                break
            found.append(seq)
        found.reverse()
        return self._prompts.fitting(caller, found[: config.get("session.messages")])

    async def _show(self, caller, sid: str, turns: list) -> None:
        config, cursor, journal = self._config, self._cursor, self._journal
        caller, turns = self._in_one_workspace(caller, turns)
        last = turns[-1]
        turns = self._without_others(turns)
        spoken = [seq for seq in turns if (journal.turn(seq) or {}).get("role") == "user"]
        if not spoken:
            cursor.note_flush(sid, last)
            return
        self._records.check_room()
        prompt = self._prompts.last_look(caller, turns, _SYSTEM, _PROMPT)
        turn = Turn(caller, spoken[-1])
        turn.only = _KEEPING
        await tool_loop.run(self._model, self._tools, config, prompt, turn, Sink(), Reply(Sink()))
        if not turn.has_changed:
            # Was it the room that was missing?
            self._records.check_room()
        cursor.note_flush(sid, last)
        self.done += 1
        diag.info("flush", "t%d to t%d had a last look" % (turns[0], last))

    def _without_others(self, turns: list) -> list:
        own, others = [], []
        for seq in turns:
            turn = self._journal.turn(seq) or {}
            is_reply = turn.get("role") == "assistant" and turn.get("re", turn.get("prev")) in others
            (others if is_reply or "forwarded" in turn or "sensed" in turn else own).append(seq)
        return own

    def _in_one_workspace(self, caller, turns: list) -> tuple:
        """Return (caller at the first turns, the turns in that workspace)."""
        workspaces = [(self._journal.turn(seq) or {}).get("workspace", "") for seq in turns]
        count = 1
        while count < len(turns) and workspaces[count] == workspaces[0]:
            count += 1
        return Caller(caller.principal, caller.room, caller.group, workspaces[0]), turns[:count]

    def status_lines(self):
        if self.done:
            yield "%d times since the start" % self.done
        if self.pause.why:
            yield "it waits: " + self.pause.why
