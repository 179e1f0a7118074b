"""Requests to the companion, and answers that repeat their number."""

import asyncio
from collections import namedtuple

from engram import diag, text
from engram.compat import wait_for_ms
from engram.errors import NetError, Refused
from engram.link import messages

_MOST_QUESTIONS = const(6)  # without an answer yet
_SILENCE = const("the companion did not answer in time")


Body = namedtuple("Body", "size pieces")
"""A message's body: its bytes, and a function that yields them."""


class NoAnswer(NetError):
    """No answer came in time."""


class Rpc:
    """Requests and answers over one link; `n` never goes back while the board runs."""

    def __init__(self, board: str, transport=None):
        self.transport = transport
        self.board = board
        self.link = 0
        self.n = 0
        self.failure = None
        self._questions = []

    def open(self, link: int) -> None:
        self.link = link
        self.failure = None

    def close(self, error) -> None:
        """End the link and fail all pending requests."""
        self.failure = error
        for question in self._questions:
            question.error = error
            question.event.set()

    async def ask(self, op: str, within_ms: int, body=None, send=None, **fields) -> dict:
        """Send a message and return the answer's head with its `body`; NetError, StoreError."""
        if self.failure:
            raise self.failure
        if len(self._questions) >= _MOST_QUESTIONS:
            raise NetError("too many questions wait for the companion's answer")
        self.n += 1
        question = _Question(self.n, op)
        self._questions.append(question)
        try:
            head = messages.encode(op, self.board, self.link, self.n, **fields)
            await (send or self.transport.send)(head, body)
            await wait_for_ms(question.event.wait(), within_ms)
        except asyncio.TimeoutError:
            raise NoAnswer(_SILENCE)
        finally:
            self._questions.remove(question)
        if question.error:
            raise question.error
        return question.head

    async def ask_in_time(self, op: str, within_ms: int, **fields) -> dict:
        """Ask with a time limit that includes sending; NoAnswer."""
        try:
            return await wait_for_ms(self.ask(op, within_ms, **fields), within_ms)
        except asyncio.TimeoutError:
            raise NoAnswer(_SILENCE)

    def receive(self, data) -> None:
        """Handle a message; ignore it if no request of this board waits for it."""
        try:
            head, body = messages.decode(data, messages.TO_BOARD)
        except messages.BadMessage as error:
            diag.warning("companion", str(error))
            return
        if head["board"] != self.board or head["link"] != self.link:
            return
        for question in self._questions:
            if question.n == head["n"]:
                head["body"] = text.decode(bytes(body))
                question.receive(head)


class _Question:
    def __init__(self, n: int, op: str):
        self.n = n
        self.head = {}
        self.error = None
        self.event = asyncio.Event()
        self._op = op

    def receive(self, head: dict) -> None:
        if head["op"] == "refused":
            self.error = Refused(text.printable(head["why"]), head["again"])
        elif head["op"] not in messages.ANSWERS[self._op]:
            self.error = NetError("the companion answered %s with %s" % (self._op, head["op"]))
        self.head = head
        self.event.set()
