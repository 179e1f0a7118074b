"""Tests a model for a person: a chat, a tool call and an extraction as a board's turns ask for them; nothing is kept."""

import asyncio

from engram import tables, text
from engram.compat import ticks_diff, ticks_ms, wait_for_ms
from engram.errors import EngramError
from engram.learning.extract import ExtractBatch
from engram.llm.types import Request
from engram.memory.access import OWNER, own_scope

_WINDOW = const("llm.context_tokens")
_SLOW = const(30)  # seconds to a first word, after which a person thinks that none comes
_SHOWN = const(80)  # characters of an answer


class ModelCheck:
    """A test of `model` by a board's own prompts and tools, in the window that `window` finds; no call is run."""

    def __init__(self, board, model, window):
        self._board = board
        self._model = model
        self._window = window
        self._seconds = model.first_ms // 1000  # that each check may take

    async def run(self, sink) -> str:
        """Test the model and return the verdict; the turn queue runs it, so that no message comes between."""
        self._sink = sink
        if self._board.jobs:
            await self._board.jobs.preempt()
        own = self._board.config.get(_WINDOW)
        try:
            return await self._verdict(sink)
        finally:
            self._board.config.assume(_WINDOW, own)

    async def _verdict(self, sink) -> str:
        intro, chat, tool, fact, failed, *verdicts = tables.rows("learning/model_check")
        await sink.line(intro % self._seconds)
        if not await self._check("chat", self._chat(chat)):
            return failed
        if self._window:
            await self._window.ask()  # some services know it once the model is loaded
        told = (self._window and self._window.said) or _WINDOW
        await sink.line("window    %d tokens (%s)" % (self._board.config.get(_WINDOW), told))
        has_tools = await self._check("tools", self._tool(tool))
        has_facts = await self._check("facts", self._extraction(fact))
        return verdicts[2 * (not has_tools) + (not has_facts)]

    async def _check(self, name: str, work) -> bool:
        """Await a check and show its result: True or False, and a sentence."""
        is_ok = False
        try:
            is_ok, said = await wait_for_ms(work, self._model.first_ms)
        except asyncio.TimeoutError:
            said = "it took longer than %d s" % self._seconds
        except EngramError as error:
            said = str(error)
        await self._sink.line("%-9s %s" % (name, ("works; " if is_ok else "no: ") + said))
        return is_ok

    async def _chat(self, message: str) -> tuple:
        reply, first_ms, rest_ms = await self._ask(message)
        if not (reply.text.strip() or reply.calls):
            return False, "the answer was empty; if the model thinks first, raise llm.reply_tokens"
        read = max(0, reply.usage[0] - max(0, reply.usage[2])) * 1000 // first_ms
        seconds = (first_ms + 500) // 1000
        figures = seconds, ", which is slow" if seconds > _SLOW else "", read, text.tokens(reply.text) * 1000 // rest_ms
        return True, "the first word came after %d s%s, about %d tokens a second read and %d written" % figures

    async def _tool(self, message: str) -> tuple:
        own = self._board.model
        if own:
            own.not_called = 1  # with tools, and an order without a call decides
        reply = (await self._ask(message))[0]
        if own and own.name == self._model.name:
            (own.note_call if reply.calls else own.note_no_call)()
        if reply.calls:
            return True, "it called " + reply.calls[0].name
        said = self._model.no_tools or text.cut(text.printable(reply.text), _SHOWN)
        return False, "it called none, and said: " + said

    async def _ask(self, message: str) -> tuple:
        """Return the reply to a message in a turn's prompt, and the ms to its first word and from there."""
        board, began, firsts = self._board, ticks_ms(), []
        prompt = board.prompts.last_look(OWNER, message)

        async def on_text(_piece: str) -> None:
            if not firsts:
                firsts.append(ticks_ms())

        async def on_retry(problem: str, _wait_ms: int) -> None:
            await self._sink.notice(problem)

        request = Request(prompt.system, prompt.messages, board.toolbox.listed(OWNER), prompt.reply_tokens, "")
        reply = await self._model.stream(request, on_text, on_retry)
        firsts.append(ticks_ms())
        return reply, max(1, ticks_diff(firsts[0], began)), max(1, ticks_diff(firsts[-1], firsts[0]))

    async def _extraction(self, message: str) -> tuple:
        board = self._board
        turn = {"seq": 0, "sid": "", "who": OWNER.principal, "scope": own_scope(OWNER), "text": message}
        turn["at"] = board.clock.now()
        batch = ExtractBatch(board.prompts, board.clock, board.records, _NoJournal(), board.notes, [turn])
        batch.apply(await batch.ask(self._model, _NoJournal()))
        if batch.changes:
            return True, "it read: " + batch.changes[0].values["content"]
        return False, batch.refused[0] if batch.refused else "it found none in: " + message


class _NoJournal:
    """A journal that has the message of the test alone, and a cursor that counts no call."""

    gists = None

    def get(self, *_arguments) -> None:
        pass

    spend = correct = get
