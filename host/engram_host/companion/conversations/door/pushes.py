"""Pushes of boards, such as reminders, for programs at the broker: see mqtt_door.

The database is the queue, with a mark at the last published message. The mark is saved after the
broker has the messages, so an outage may repeat some, with the same `push`.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable

from engram_host.companion.conversations.people import PeopleService
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.conversations.wakers import wait_for_event
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.conversations.table import ConversationTable
from engram_host.companion.store.values import ValueTable

_log = logging.getLogger("engram.conversations")

AT_ONCE = 20

LOOK_SECONDS = 60.0

RETRY_SECONDS = 5.0

MARK = "door.pushes"

Publish = Callable[[str, bytes], Awaitable[None]]


class DoorPushes:
    """Publishes pushes that neither a bridge's chat gets nor a blocked person would read."""

    def __init__(
        self,
        *,
        messages: ConversationTable,
        values: ValueTable,
        conversations: ConversationService,
        people: PeopleService,
    ):
        self._messages = messages
        self._values = values
        self._conversations = conversations
        self._people = people

    async def run(self, publish: Publish) -> None:
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
        while found := await asyncio.to_thread(self._messages.pushes_for_programs, mark, AT_ONCE):
            for each in found:
                if each.said.room in await self._people.silenced_rooms():
                    _log.info("a push of %s is not published: its room is blocked or closed", each.device)
                    continue
                fields = {"push": each.said.mid, "room": each.said.room, "text": each.said.text, "at": each.at}
                await publish(each.device, json.dumps(fields, ensure_ascii=False).encode())
            mark = found[-1].number
            await asyncio.to_thread(self._values.put, MARK, str(mark))

    def _first_mark(self) -> int:
        if kept := self._values.get(MARK):
            return int(kept)
        return int(self._values.put_first(MARK, str(self._messages.newest_conversation())))
