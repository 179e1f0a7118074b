"""What boards begin to say by themselves, such as reminders, for programs at the broker: see mqtt_door.

The database is the queue. A mark in it says up to which message all were published, so that after an outage of the broker
and a start of the companion the rest follows. It is kept after the broker has them, so some may be published twice: their
`push` is the same then.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable

from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.conversations.wakers import wait_for_event
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore

_log = logging.getLogger("engram.conversations")

AT_ONCE = 20
"""Pushes that are read at once: as many may be published twice."""

LOOK_SECONDS = 60.0
"""Between two looks for what boards have begun to say to another process."""

RETRY_SECONDS = 5.0
"""Between two attempts to read from a database that cannot be used."""

MARK = "door.pushes"
"""The note with the number of the newest message that was published, as were all before it."""

Publish = Callable[[str, bytes], Awaitable[None]]
"""Publishes a message on the topic `chat/out` of a board; waits for the broker while that is away."""


class DoorPushes:
    """Publishes what boards begin to say, but for what the chat of a bridge gets, and what nobody may hear."""

    def __init__(self, store: CompanionStore, conversations: ConversationService, people: PeopleService):
        self._store = store
        self._conversations = conversations
        self._people = people

    async def run(self, publish: Publish) -> None:
        """Publish what comes, until this is cancelled."""
        with self._conversations.waiting_for_pushes() as pushed:
            while True:
                pause = LOOK_SECONDS
                try:
                    await self._publish_new(publish)
                except StoreUnavailable as problem:
                    _log.warning("what boards begin to say waits: %s", problem, extra={"repeat": "door"})
                    pause = RETRY_SECONDS
                await wait_for_event(pushed, pause)

    async def _publish_new(self, publish: Publish) -> None:
        mark = await asyncio.to_thread(self._first_mark)
        while found := await asyncio.to_thread(self._store.pushes_for_programs, mark, AT_ONCE):
            for each in found:
                if each.said.room in await self._people.silenced_rooms():
                    _log.info("a push of %s is not published: its room is blocked or closed", each.device)
                    continue
                fields = {"push": each.said.mid, "room": each.said.room, "text": each.said.text, "at": each.at}
                await publish(each.device, json.dumps(fields, ensure_ascii=False).encode())
            mark = found[-1].number
            await asyncio.to_thread(self._store.put, MARK, str(mark))

    def _first_mark(self) -> int:
        """Up to where all was published: where the door was never open, up to now."""
        if kept := self._store.get(MARK):
            return int(kept)
        return int(self._store.put_first(MARK, str(self._store.newest_conversation())))
