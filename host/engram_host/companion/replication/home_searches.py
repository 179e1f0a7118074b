"""Searches of boards, each at the worker that has its index."""

import json

from engram_host.companion.errors import CompanionError
from engram_host.companion.replication.messages import SearchHead
from engram_host.companion.replication.protocol import AnswerSearch
from engram_host.companion.workers.homes import HomeWorkers

KIND = "board search"

SECONDS = 1.0
"""How long another worker may take: a board waits 1.5 s for all of the answer."""


class HomeSearches:
    """Answers searches of boards, by `answer` where this worker is the board's home, or the home gives no answer."""

    def __init__(self, homes: HomeWorkers, answer: AnswerSearch):
        self._homes = homes
        self._answer = answer
        homes.on(KIND, self._answer_peer)

    async def answer_board(self, device: str, head: SearchHead) -> list[bytes]:
        """The answers to a search of a board. Refused, StoreUnavailable."""
        body = json.dumps([device, head]).encode()
        if found := await self._homes.ask(device, KIND, body, SECONDS):
            return [answer.encode() for answer in json.loads(found)]
        return await self._answer(device, head)

    async def _answer_peer(self, body: bytes) -> bytes:
        device, head = json.loads(body)
        try:
            return json.dumps([answer.decode() for answer in await self._answer(device, head)]).encode()
        except CompanionError:
            return b""  # who asks meets the same, and says so to the board
