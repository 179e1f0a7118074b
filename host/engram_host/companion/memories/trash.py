"""A board's trash of evicted memories; only the board knows it, and its answer is stored."""

import json
from dataclasses import dataclass
from typing import Any

from engram.errors import ArgumentError
from engram.memory import access
from engram.transfer.jsonl import TextParts
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.memories.commands import PREFIX, ROOM
from engram_host.companion.types import Said

_COMMAND = "/export trash"
_ASKED = f"{PREFIX}trash:"
_LOOKED_THROUGH = 100


@dataclass(frozen=True)
class TrashListing:
    """The last answer; `at` is 0 for never and `is_waiting` marks an open request."""

    at: int = 0
    is_waiting: bool = False
    told: str = ""
    problem: str = ""
    records: tuple[dict[str, Any], ...] = ()


class TrashReader:
    """Trash requests; each call may raise UnknownDevice and StoreUnavailable."""

    def __init__(self, conversations: ConversationService):
        self._conversations = conversations

    async def ask(self, device: str, key: str) -> None:
        """Request a listing. Raise TooManyWaiting."""
        said = Said(f"{_ASKED}{key}", access.OWNER.principal, _COMMAND, ROOM, is_command=True)
        await self._conversations.say(device, said)

    async def latest(self, device: str) -> TrashListing:
        found = await self._conversations.list_messages(device, _LOOKED_THROUGH, room=ROOM)
        asked = next((each for each in found if each.said.mid.startswith(_ASKED)), None)
        if asked is None:
            return TrashListing()
        exchange = await self._conversations.exchange(device, asked.said.mid)
        message, answer = exchange.message, exchange.answer
        if message.is_open:
            return TrashListing(message.at, True, await self._conversations.why_waiting(message))
        problem = " ".join(answer.problems)
        return TrashListing(message.changed, problem=problem, records=tuple(reversed(_records(answer.lines))))


def _records(lines: list[str]) -> list[dict[str, Any]]:
    parts, found = TextParts(), list[dict[str, Any]]()
    for line in lines:
        try:
            fields = json.loads(line)
            if isinstance(fields, dict) and not parts.take(fields) and isinstance(fields.get("content"), str):
                found.append(fields)
        except (ValueError, RecursionError, ArgumentError):
            continue
    return found
