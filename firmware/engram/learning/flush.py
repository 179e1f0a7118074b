"""A last look at turns that are about to leave the window and were not read for facts: a silent turn, in which the model
may keep what should last. Nobody sees what it answers. The turns stay in the journal, where they are searched.

It is a job in the background, in a pause of the talk before the window moves. Messages are not delayed by it: if no pause
comes, turns leave first and have their look in the next pause, from the journal, the oldest first, until none is left.
"""

from engram.compat import const
from engram.errors import EngramError
from engram.learning.jobs import Pause
from engram.learning.last_look import LastLook

_EARLY = const(2)  # turns before they leave: a pause comes before the window moves
_SESSIONS = const(4)  # that may wait for their last look at once
_MOST = const(200)  # turns of one session: of more, the older ones were there before this was on, or a model


class Flush:
    """Shows turns once more before the window drops them."""

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
        self._pause = Pause("flush")
        self.done = 0

    def turn_over(self, caller, sid: str) -> None:
        """A turn of a session is over: its window may be about to move."""
        if self._config.get("flush.on") and not (caller.group and self._config.get("mode") != "full"):
            self._sessions.pop(sid, None)
            self._sessions[sid] = caller
            while len(self._sessions) > _SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))

    def is_due(self) -> bool:
        """Whether there may be turns to show."""
        return bool(self._sessions) and self._pause.is_over and not self._extraction.can_read()

    def on_model_ok(self) -> None:
        """The model has answered somebody."""
        self._pause.end()

    async def step(self) -> None:
        """Show some of the turns of one session that are about to go or have gone; it stays due until there are none."""
        sid, caller = next(iter(self._sessions.items()))
        turns = []
        try:
            turns = self._leaving(caller, sid)
            if turns:
                await self._show(caller, sid, turns)
        except EngramError as error:
            self._pause.fail(error)
            # Another session is next.
            self._sessions[sid] = self._sessions.pop(sid)
            return
        self._pause.end()
        # What was said meanwhile put the session there again.
        if not turns and self._sessions.get(sid) is caller:
            del self._sessions[sid]

    def _leaving(self, caller, sid: str) -> list:
        """The oldest turns that are about to leave the window, or left it, unseen: at most as many as it holds."""
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
        records, journal, cursor = self._records, self._journal, self._cursor
        look = LastLook(self._config, records, journal, cursor, self._tools, self._prompts, self._model)
        if await look.show(caller, sid, turns):
            self.done += 1

    def status_lines(self):
        """Yield lines on how it goes, for /stats."""
        if self.done:
            yield "%d times since the start" % self.done
        if self._pause.why:
            yield "it waits: " + self._pause.why
