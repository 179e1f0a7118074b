"""Conversations for programs at the broker: they write engram/v1/NAME/chat/in and read engram/v1/NAME/chat/out, in JSON.

docs/guides/conversations.md has the form. A message that comes again with its id is not said again: its answer is.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from engram.errors import EngramError
from engram.link.messages import MID_CHARS
from engram_host.companion.conversations.service import ConversationService, Progress
from engram_host.companion.errors import CompanionError
from engram_host.companion.types import Piece, Said

_log = logging.getLogger("engram.conversations")

MOST_AT_WORK = 256
"""Answers that are passed on at the same time: bounds the memory."""

MID = "mqtt:"
"""How the ids of these messages begin in the database, so that nobody takes those of others."""

Publish = Callable[[str, bytes], Awaitable[None]]
"""Publishes a message on the topic `chat/out` of a board; an error of the broker ends what is passed on."""

_FIELDS: dict[str, type] = {
    "id": str,
    "text": str,
    "command": str,
    "cancel": str,
    "principal": str,
    "room": str,
    "group": bool,
    "workspace": str,
}


class DoorRefused(CompanionError):
    """A message of a program cannot be read."""


class MqttDoor:
    """Takes messages of programs for boards, and passes answers on."""

    def __init__(self, conversations: ConversationService):
        self._conversations = conversations
        self._tasks: set[asyncio.Task[None]] = set()
        self._followed: set[tuple[str, str]] = set()

    def take(self, device: str, data: bytes, publish: Publish) -> None:
        """Handle a message from `chat/in`; what comes of it is published."""
        self._begin(self._handle(device, data, publish))

    async def stop(self) -> None:
        """Pass nothing more on."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, work: Any) -> None:
        if len(self._tasks) >= MOST_AT_WORK:
            work.close()
            _log.warning("a program's message was passed over: too many are at work", extra={"repeat": "door"})
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (problem := task.exception()):
            # The program sends the message again when it is connected again.
            _log.info("an answer was not passed on: %s", problem)

    async def _handle(self, device: str, data: bytes, publish: Publish) -> None:
        own_id: str | None = None
        try:
            fields = parse(data)
            own_id = mid = str(fields.get("cancel") or fields.get("id") or secrets.token_hex(8))
            if "cancel" in fields:
                await self._conversations.cancel(device, MID + mid)
                return
            found = await self._conversations.say(device, _said(mid, fields))
        except (CompanionError, EngramError) as problem:
            await self._say(publish, device, {"id": own_id, "problem": str(problem)})
            return
        followed = device, found.said.mid
        if followed in self._followed:
            return  # a program that sends a message again hears of it once
        self._followed.add(followed)
        try:
            async for event in self._conversations.follow(device, found.said.mid):
                if event:
                    await self._say(publish, device, {"id": own_id, **_shown(event)})
        finally:
            self._followed.discard(followed)

    async def _say(self, publish: Publish, device: str, fields: dict[str, Any]) -> None:
        await publish(device, json.dumps(fields, ensure_ascii=False).encode())


def parse(data: bytes) -> dict[str, Any]:
    """The fields of a program's message. DoorRefused."""
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        raise DoorRefused("a message is a JSON object.") from None
    if not isinstance(fields, dict):
        raise DoorRefused("a message is a JSON object.")
    for name, value in fields.items():
        if name not in _FIELDS or type(value) is not _FIELDS[name]:
            raise DoorRefused(f"there is no field {str(name)[:20]!r} of that kind; there are {', '.join(_FIELDS)}.")
    if not _is_id(fields.get("id", "x")) or not _is_id(fields.get("cancel", "x")):
        raise DoorRefused(f"an id has 1 to {MID_CHARS - len(MID)} printable ASCII signs without spaces.")
    if "cancel" not in fields and bool(fields.get("text")) == bool(fields.get("command")):
        raise DoorRefused("a message has either text or command, or it cancels another one.")
    if "cancel" not in fields and not fields.get("principal"):
        raise DoorRefused("a message says who speaks: principal.")
    return fields


def _is_id(value: str) -> bool:
    return 0 < len(value) <= MID_CHARS - len(MID) and all("!" <= sign <= "~" for sign in value)


def _said(own_id: str, fields: dict[str, Any]) -> Said:
    content = fields.get("text") or fields["command"]
    where = fields.get("room", ""), fields.get("group", False), fields.get("workspace", "")
    return Said(MID + own_id, fields["principal"], content, *where, bool(fields.get("command")))


def _shown(event: Progress | Piece) -> dict[str, Any]:
    if isinstance(event, Progress):
        found = event.conversation
        told = {"told": event.told} if event.told else {}
        return {"state" if found.is_open else "end": found.state, **told}
    return {"n": event.number, "kind": event.kind, "text": event.text}
