"""Requests to the companion and their answers: an answer has the number of its question."""

import asyncio

from engram import diag, text
from engram.compat import const, wait_for_ms
from engram.errors import NetError, Refused
from engram.link import messages

_MOST_QUESTIONS = const(6)  # without an answer yet
_SILENCE = const("the companion did not answer in time")

_ANSWERS = {
    "hello": "welcome",
    "lines": "have",
    "check": "same differs",
    "agreed": "have same",
    "search": "found",
    "keep": "kept",
    "holds": "kept",
    "notes": "noted",
    "note": "noted",
    "get": "got",
    "file": "got",
    "listen": "say cancel quiet",
    "reply": "received",
    "push": "received",
    "status": "received",
    "senses": "perceived",
    "readings": "perceived",
}


class NoAnswer(NetError):
    """No answer came in time."""


class Rpc:
    """Questions and answers over one link; `transport` has send(head, body) and silence(), which tells why no answer may have
    come, and gives receive() what comes.

    `board` and `link` stand in each message; `n` counts up and never goes back while the board runs.
    """

    def __init__(self, board: str, transport=None):
        self.transport = transport
        self.board = board
        self.link = 0
        self.n = 0
        self.failure = None
        """The error that ended the link, None while it is open."""
        self._questions = []

    def open(self, link: int) -> None:
        """Begin with a new link."""
        self.link = link
        self.failure = None

    def close(self, error) -> None:
        """The link has ended: fail all requests that wait for an answer."""
        self.failure = error
        for question in self._questions:
            question.error = error
            question.event.set()

    async def ask(self, op: str, within_ms: int, body=None, collect=None, send=None, **fields) -> dict:
        """Send a message and wait for its answer, of which the head is given. NetError, StoreError from the body.

        `body` has `size` and pieces(). collect(head) is called for each part of an answer of several; True for the last.
        `send` is what sends it, the transport's send() if none is given.
        """
        if self.failure:
            raise self.failure
        if len(self._questions) >= _MOST_QUESTIONS:
            raise NetError("too many questions wait for the companion's answer")
        self.n += 1
        question = _Question(self.n, op, collect)
        self._questions.append(question)
        try:
            head = messages.encode(op, self.board, self.link, self.n, **fields)
            await (send or self.transport.send)(head, body)
            await wait_for_ms(question.event.wait(), within_ms)
        except asyncio.TimeoutError:
            raise NoAnswer(self.transport.silence() or _SILENCE)
        finally:
            self._questions.remove(question)
        if question.error:
            raise question.error
        return question.head

    async def ask_in_time(self, op: str, within_ms: int, collect, **fields) -> dict:
        """Ask with a time limit that includes sending: NoAnswer when it is over."""
        try:
            return await wait_for_ms(self.ask(op, within_ms, None, collect, **fields), within_ms)
        except asyncio.TimeoutError:
            raise NoAnswer(_SILENCE)

    async def ask_text(self, op: str, within_ms: int, **fields) -> str:
        """Ask in time for a text that may come in parts."""
        parts = Parts()
        await self.ask_in_time(op, within_ms, parts.take, **fields)
        if not parts.is_whole:
            raise NoAnswer(_SILENCE)
        return parts.text

    def receive(self, data) -> None:
        """Handle a message that came; one that answers nothing, or another board of this name, is ignored."""
        try:
            head, _ = messages.decode(data, messages.TO_BOARD)
        except messages.BadMessage as error:
            diag.warning("companion", str(error))
            return
        if head["board"] != self.board or head["link"] != self.link:
            return
        for question in self._questions:
            if question.n == head["n"]:
                question.receive(head)


class _Question:
    """A message that waits for its answer."""

    def __init__(self, n: int, op: str, collect):
        self.n = n
        self.head = {}
        self.error = None
        self.event = asyncio.Event()
        self._op = op
        self._collect = collect

    def receive(self, head: dict) -> None:
        """Handle an answer, or a part of it."""
        if head["op"] == "refused":
            self.error = Refused(text.printable(head["why"]), head["again"])
        elif head["op"] not in _ANSWERS[self._op].split():
            self.error = NetError("the companion answered %s with %s" % (self._op, head["op"]))
        elif self._collect and not self._collect(head):
            return
        self.head = head
        self.event.set()


class Parts:
    """The text of an answer that comes in parts."""

    def __init__(self):
        self.is_whole = False
        self.text = ""
        self._count = 0

    def take(self, head: dict) -> bool:
        """Take a part; whether it is the last one."""
        if head["part"] == self._count + 1:
            self._count += 1
            self.text += head["text"]
        self.is_whole = self._count == head["parts"]
        return head["part"] >= head["parts"]
