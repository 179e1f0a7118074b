"""A message of a board, however it came, and its answers: the one way in for MQTT and HTTP."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from engram.link import messages
from engram_host.companion.errors import Refused
from engram_host.companion.metrics import Metrics
from engram_host.companion.replication.protocol import Replication

_log = logging.getLogger("engram.dispatch")

_REFUSED = b'{"op":"refused"'

AnswerBoard = Callable[[str, dict[str, Any]], Awaitable[list[bytes]]]
"""Given a device and the head of a `search` or a `get`, its answers."""


class MessageDispatcher:
    """Reads messages and hands them on; `searching` answers searches, `reading` what is asked for by its id."""

    def __init__(
        self, replication: Replication, searching: AnswerBoard, reading: AnswerBoard, metrics: Metrics | None = None
    ):
        self._replication = replication
        self._asked = {"search": searching, "get": reading}
        self._metrics = metrics or Metrics()

    async def answers(self, device: str, data: bytes) -> list[bytes]:
        """The answers to a message, [] where there are none. BadMessage if it cannot be read: then nobody can be answered."""
        try:
            head, body = messages.decode(data, messages.FROM_BOARD)
        except messages.BadMessage:
            self._metrics.message("", "unreadable")
            raise
        answers = await self._answers(device, head, body)
        self._metrics.message(head["op"], _outcome(answers))
        return answers

    async def _answers(self, device: str, head: dict[str, Any], body: memoryview) -> list[bytes]:
        asked = self._asked.get(head["op"])
        if asked:
            try:
                return await asked(device, head)
            except Refused as refused:
                return [self._replication.refusal(device, head, refused)]
        answer = await self._replication.answer(device, head, body)
        return [answer] if answer else []

    async def answers_or_nothing(self, device: str, data: bytes) -> list[bytes]:
        """As answers(), but a message that cannot be read is told of here."""
        try:
            return await self.answers(device, data)
        except messages.BadMessage as problem:
            _log.warning("%s: a message was passed over: %s", device, problem, extra={"device": device})
            return []


def _outcome(answers: list[bytes]) -> str:
    if not answers:
        return "silent"
    return "refused" if answers[0].startswith(_REFUSED) else "answered"
