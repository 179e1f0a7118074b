"""One turn of a conversation: what the person says is on flash first, then the model is asked, tools run, the reply
streams out and is kept.
"""

import asyncio
from collections import namedtuple

from engram import diag, text
from engram.agent import tool_loop
from engram.compat import const, sleep_ms, unload_modules
from engram.errors import EngramError, ModelError
from engram.memory.query import make_query

_FOUND = const(24)  # that a companion is asked for: as many as recall takes into account
_WAITING = const(4)  # turns under way and waiting: more are refused, so that a flood cannot fill the heap

_REMINDING = (
    "engram.reminders.delivery",
    "engram.agent.plain_commands",
    "engram.reminders.rules",
    "engram.agent.phrase_rules",
    "engram.agent.phrases",
)

Outcome = namedtuple("Outcome", ("turn", "reply", "problem"))
"""The id of the person's turn, the reply's text, and a sentence on what went wrong, or ""."""


class Sink:
    """Where a turn's output goes; a channel overrides what it shows."""

    async def text(self, piece: str) -> None:
        """A piece of the reply, as it comes."""

    async def notice(self, line: str) -> None:
        """A line about the turn: what was remembered, that the model is tried again."""


class Agent:
    """Answers turns, one at a time; `model` is None while there is none, and so is `after`, what follows each turn."""

    def __init__(self, parts, context, tools, model, offline, after=None):
        self._parts = parts
        self._journal = parts.journal
        self._config = parts.config
        self._intents = parts.intents
        self._context = context
        self._tools = tools
        self._offline = offline
        self.model = model
        self.after = after
        self._lock = asyncio.Lock()
        self._waiting = 0
        self.turns = 0
        self.failed = 0

    def is_busy(self) -> bool:
        """Whether a message is being answered."""
        return self._waiting > 0

    async def turn(self, caller, content: str, sink: Sink) -> Outcome:
        """Answer what `caller` says. The turn is in the journal before anything else, whatever happens to the reply."""
        if self._waiting >= _WAITING:
            raise ModelError("too many messages are waiting for an answer; send this one again in a moment.")
        self._waiting += 1
        try:
            async with self._lock:
                return await self._turn(caller, content, sink)
        finally:
            self._waiting -= 1

    async def _turn(self, caller, content: str, sink: Sink) -> Outcome:
        self.turns += 1
        self._tools.begin_turn()
        command = self.model is None and self._offline.understands(content)
        seq = self._journal.add(caller, "user", caller.principal, content, command=command)
        turn = "t%d" % seq
        # To look at the keyboard between the flash's work for the message and the search for its answer.
        await sleep_ms(0)
        reminders = await self._remind(caller, content, sink)
        if self.model is None:
            reply = await self._offline.answer(caller, content, turn)
            # The answer to a command repeats what is stored: kept as a turn, it would be found in its place.
            await sink.text(reply)
            return Outcome(turn, reply, "")
        reply = _Reply(sink)
        is_whole = False
        if self.after:
            await self.after.preempt()
        problem = "the model gave an empty answer; ask again."
        try:
            await self._converse(caller, seq, content, sink, reply, reminders)
            is_whole = True
        except EngramError as error:
            self.failed += 1
            problem = str(error)
            diag.info("agent", problem)  # kept for /stats: the channel tells the person
        finally:
            # Whatever ended it, a task that was cancelled or a channel that is gone: what came of it is kept.
            self._keep(caller, reply.all(), not is_whole)
        told = self.after.turn_over(caller, turn, content, is_whole) if self.after else ""
        if not is_whole and not told and not reply.all() and self._offline.understands(content):
            told = await self._offline.answer(caller, content, turn)
        if told:
            await sink.notice(told)
        return Outcome(turn, reply.all(), "" if is_whole and reply.all() else problem)

    async def _remind(self, caller, content: str, sink: Sink) -> str:
        """Tell of what a message brings up; what to tell the model of it."""
        due = self._intents.due(caller, content)
        if not due:
            return ""
        from engram.reminders import delivery

        try:
            return await delivery.deliver(self._intents, due, caller, content, sink)
        finally:
            unload_modules(_REMINDING)

    async def _converse(self, caller, seq: int, content: str, sink: Sink, reply, reminders: str) -> None:
        """Ask the model until it calls no more tools."""
        companion = self._parts.companion if self._config.get("mode") == "full" else None
        # What the board finds itself would be the message: it is in the journal already.
        more = await companion.ask.found(self._ranked(caller, content, seq), _FOUND) if companion else None
        prompt = self._context.build(caller, self._journal.current(caller), seq, content, reminders, more)
        if prompt.notice:
            await sink.notice(prompt.notice)

        async def tell(problem: str, wait_ms: int) -> None:
            await sink.notice("%s; trying again in %d s" % (problem, (wait_ms + 999) // 1000))

        self.model.on_retry = tell
        await tool_loop.run(self.model, self._tools, self._config, prompt, caller, "t%d" % seq, sink, reply)

    def _ranked(self, caller, content: str, seq: int):
        return self._parts.recall.rank(make_query(content, caller, skip=(seq,)))

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
