"""One turn of a conversation: what the person says is on flash first, then the model is asked, tools run, the reply
streams out and is kept.
"""

import asyncio
from collections import namedtuple

from engram import diag, text
from engram.agent import tool_loop
from engram.compat import const, sleep_ms
from engram.errors import EngramError, ModelError
from engram.lazy import lazy

_FOUND = const(24)  # that a companion is asked for: as many as recall takes into account
_WAITING = const(4)  # turns under way and waiting: more are refused, so that a flood cannot fill the heap


Outcome = namedtuple("Outcome", ("turn", "reply", "problem"))
"""The id of the person's turn, the reply's text, and a sentence on what went wrong, or ""."""


class Sink:
    """Where a turn's output goes; a channel overrides what it shows."""

    async def text(self, piece: str) -> None:
        """A piece of the reply, as it comes."""

    async def notice(self, line: str) -> None:
        """A line about the turn: what was remembered, that the model is tried again."""


class Turn:
    """One message, with its number in the journal, while it is answered."""

    def __init__(self, caller, seq: int):
        self.caller = caller
        self.seq = seq
        self.id = "t%d" % seq
        self.has_changed = False
        """Whether a tool has changed something."""
        self.has_reminder = False
        """Whether one has changed the reminders."""


class Gate:
    """Lets one turn be answered at a time; a few wait, more are refused, so that a flood cannot fill the heap."""

    def __init__(self):
        self._lock = asyncio.Lock()
        self._waiting = 0

    def is_busy(self) -> bool:
        """Whether a message is being answered."""
        return self._waiting > 0

    async def __aenter__(self):
        if self._waiting >= _WAITING:
            raise ModelError("too many messages are waiting for an answer; send this one again in a moment.")
        self._waiting += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self._waiting -= 1
            raise

    async def __aexit__(self, kind, error, trace):
        self._lock.release()
        self._waiting -= 1


class Agent:
    """Answers turns; `model` is None while there is none, and so is `post_turn`, what follows each turn."""

    def __init__(
        self, config, journal, reminders, prompts, tools, offline, gate, model=None, post_turn=None, remote_search=None
    ):
        self._config = config
        self._journal = journal
        self._reminders = reminders
        self._prompts = prompts
        self._tools = tools
        self._offline = offline
        self._gate = gate
        self.model = model
        self._post_turn = post_turn
        self._remote_search = remote_search
        self.turns = 0
        self.failed = 0

    def is_busy(self) -> bool:
        """Whether a message is being answered."""
        return self._gate.is_busy()

    async def turn(self, caller, content: str, sink: Sink) -> Outcome:
        """Answer what `caller` says. The turn is in the journal before anything else, whatever happens to the reply."""
        async with self._gate:
            # What a search and the tools load is not needed between turns: a small heap has it free for what comes there.
            with lazy("store", "memory", "agent"):
                return await self._turn(caller, content, sink)

    async def _turn(self, caller, content: str, sink: Sink) -> Outcome:
        self.turns += 1
        command = self.model is None and self._offline.understands(content)
        seq = self._journal.add(caller, "user", caller.principal, content, command=command)
        turn = Turn(caller, seq)
        # To look at the keyboard between the flash's work for the message and the search for its answer.
        await sleep_ms(0)
        reminders = await self._remind(caller, content, sink)
        if self.model is None:
            reply = await self._offline.answer(caller, content, turn.id)
            # The answer to a command repeats what is stored: kept as a turn, it would be found in its place.
            await sink.text(reply)
            return Outcome(turn.id, reply, "")
        return await self._answer(turn, content, sink, reminders)

    async def _answer(self, turn: Turn, content: str, sink: Sink, reminders: str) -> Outcome:
        reply = _Reply(sink)
        is_whole = False
        if self._post_turn:
            await self._post_turn.preempt()
        problem = "the model gave an empty answer; ask again."
        try:
            await self._converse(turn, content, sink, reply, reminders)
            is_whole = True
        except EngramError as error:
            self.failed += 1
            problem = str(error)
            diag.info("agent", problem)  # kept for /stats: the channel tells the person
        finally:
            # Whatever ended it, a task that was cancelled or a channel that is gone: what came of it is kept.
            self._keep(turn.caller, reply.all(), not is_whole)
        told = self._post_turn.turn_over(turn, content, is_whole) if self._post_turn else ""
        if not is_whole and not told and not reply.all() and self._offline.understands(content):
            told = await self._offline.answer(turn.caller, content, turn.id)
        if told:
            await sink.notice(told)
        return Outcome(turn.id, reply.all(), "" if is_whole and reply.all() else problem)

    async def _remind(self, caller, content: str, sink: Sink) -> str:
        """Tell of what a message brings up; what to tell the model of it."""
        due = self._reminders.due(caller, content)
        if not due:
            return ""
        with lazy("reminders", "agent", "text.phrases"):
            from engram.agent.plain_commands import is_command
            from engram.reminders.reminder_file import deliver

            if is_command(content):
                return ""
            return await deliver(self._reminders, due, caller, sink)

    async def _converse(self, turn: Turn, content: str, sink: Sink, reply, reminders: str) -> None:
        """Ask the model until it calls no more tools."""
        remote = self._remote_search if self._config.get("mode") == "full" else None
        sid = self._journal.current(turn.caller)
        window = self._prompts.window(turn.caller, sid, turn.seq)
        ranked = self._prompts.rank(turn.caller, content, window.turns, turn.seq)
        more = await remote.found(ranked, _FOUND) if remote and ranked else None
        prompt = self._prompts.build(turn.caller, sid, turn.seq, content, window, reminders, ranked, more)
        if prompt.notice:
            await sink.notice(prompt.notice)
        await tool_loop.run(self.model, self._tools, self._config, prompt, turn, sink, reply)

    def _keep(self, caller, reply: str, cut: bool) -> None:
        """Keep the reply, as far as it came."""
        if not reply:
            return
        try:
            self._journal.add(caller, "assistant", "engram", reply, cut)
        except EngramError as error:
            # The person has read it, and their own turn is on flash: the conversation goes on.
            diag.error("agent", "the reply could not be kept: " + str(error))
        except MemoryError:
            # A line takes several times its length while it is made: the first half is better than nothing.
            self._keep(caller, text.cut(reply, len(reply) // 2), True)


class _Reply:
    """Passes pieces on and keeps them; parts between tool calls are joined by a line end."""

    def __init__(self, sink: Sink):
        self._sink = sink
        self._kept = bytearray()  # pieces are a few letters long: as strings they would take ten times the heap
        self._open = False

    async def text(self, piece: str) -> None:
        """Pass a piece on."""
        if not self._open and self._kept:
            self._kept.extend(b"\n")
            await self._sink.text("\n")
        self._open = True
        self._kept.extend(piece.encode())
        await self._sink.text(piece)

    def end_part(self) -> None:
        """What comes next begins on a line of its own."""
        self._open = False

    def all(self) -> str:
        """All that was passed on, in a form that may be stored."""
        return str(self._kept, "utf-8").strip()
