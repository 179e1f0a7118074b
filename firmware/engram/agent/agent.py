"""One turn of a conversation: what the person says is on flash first, then the model is asked, tools run, the reply
streams out and is kept.
"""

import asyncio
from collections import namedtuple

from engram import log
from engram.compat import const
from engram.errors import EngramError, ModelError
from engram.llm.types import Request, assistant, result

_WAITING = const(4)  # turns that wait for the one under way: more are refused, so that a flood cannot fill the heap

Outcome = namedtuple("Outcome", ("turn", "reply", "problem"))
"""The id of the person's turn, the reply's text, and a sentence on what went wrong, or ""."""


class Sink:
    """Where a turn's output goes; a channel overrides what it shows."""

    async def text(self, piece: str) -> None:
        """A piece of the reply, as it comes."""

    async def notice(self, line: str) -> None:
        """A line about the turn: what was remembered, that the model is tried again."""


class Agent:
    """Answers turns, one at a time; `model` is None while there is none."""

    def __init__(self, parts, context, tools, model, offline):
        self._journal = parts.journal
        self._config = parts.config
        self._context = context
        self._tools = tools
        self._offline = offline
        self.model = model
        self._lock = asyncio.Lock()
        self._waiting = 0
        self.turns = 0
        self.failed = 0

    async def turn(self, asker, content: str, sink: Sink) -> Outcome:
        """Answer what `asker` says. The turn is in the journal before anything else, whatever happens to the reply."""
        if self._waiting >= _WAITING:
            raise ModelError("too many messages are waiting for an answer; send this one again in a moment.")
        self._waiting += 1
        try:
            async with self._lock:
                return await self._turn(asker, content, sink)
        finally:
            self._waiting -= 1

    async def _turn(self, asker, content: str, sink: Sink) -> Outcome:
        self.turns += 1
        self._tools.begin_turn()
        command = self.model is None and self._offline.understands(content)
        seq = self._journal.add(asker, "user", asker.principal, content, command=command)
        turn = "t%d" % seq
        if self.model is None:
            reply = self._offline.answer(asker, content, turn)
            # The answer to a command repeats what is stored: kept as a turn, it would be found in its place.
            await sink.text(reply)
            return Outcome(turn, reply, "")
        reply = _Reply(sink)
        try:
            await self._converse(asker, seq, content, sink, reply)
        except ModelError as error:
            self.failed += 1
            log.warning("agent", str(error))
            self._keep(asker, reply.all(), True)
            return Outcome(turn, reply.all(), str(error))
        except (asyncio.CancelledError, KeyboardInterrupt):
            self._keep(asker, reply.all(), True)
            raise
        self._keep(asker, reply.all(), False)
        problem = "" if reply.all() else "the model gave an empty answer; ask again."
        return Outcome(turn, reply.all(), problem)

    async def _converse(self, asker, seq: int, content: str, sink: Sink, reply) -> None:
        """Ask the model until it calls no more tools."""
        prompt = self._context.build(asker, self._journal.current(asker.room), seq, content)
        if prompt.notice:
            await sink.notice(prompt.notice)
        exchanged = []

        def messages():
            yield from prompt.messages()
            yield from exchanged

        rounds = self._config.get("llm.tool_rounds")
        for number in range(rounds + 1):
            # In the last round there is nothing left to call, so the model has to answer.
            tools = self._tools.listed() if number < rounds else ()
            request = Request(prompt.system, messages, tools, self._config.get("llm.reply_tokens"))
            answer = await self.model.stream(request, reply.text)
            if answer.stop == "length":
                await sink.notice("the answer reached its longest length and ends here.")
            if not answer.calls or not tools:
                return
            reply.end_part()
            exchanged.append(assistant(answer.text, answer.calls))
            for call in answer.calls:
                done = self._tools.run(call, asker, "t%d" % seq)
                exchanged.append(result(call, done.result))
                if done.notice:
                    await sink.notice(done.notice)
        await sink.notice("the model was stopped after %d rounds of tools." % rounds)

    def _keep(self, asker, reply: str, cut: bool) -> None:
        """Keep the reply, as far as it came."""
        if not reply:
            return
        try:
            self._journal.add(asker, "assistant", "engram", reply, cut)
        except EngramError as error:
            # The person has read it, and their own turn is on flash: the conversation goes on.
            log.error("agent", "the reply could not be kept: " + str(error))


class _Reply:
    """Passes pieces on and keeps them; parts between tool calls are joined by a line end."""

    def __init__(self, sink: Sink):
        self._sink = sink
        self._pieces = []
        self._open = False

    async def text(self, piece: str) -> None:
        """Pass a piece on."""
        if not self._open and self._pieces:
            self._pieces.append("\n")
            await self._sink.text("\n")
        self._open = True
        self._pieces.append(piece)
        await self._sink.text(piece)

    def end_part(self) -> None:
        """What comes next begins on a line of its own."""
        self._open = False

    def all(self) -> str:
        """All that was passed on, in a form that may be stored."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0].strip() if self._pieces else ""
