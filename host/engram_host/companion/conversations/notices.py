"""Notices that are not stored, such as pairing codes, so that floods leave no rows or tasks."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from engram_host.companion.bridges.errors import SendFailed, SendRefused, SlowDown
from engram_host.companion.bridges.network import Features, Incoming
from engram_host.companion.conversations.delivery import RetryWait
from engram_host.companion.conversations.outlet import Outlet, Outlets
from engram_host.companion.conversations.people import Admission, PeopleService
from engram_host.companion.conversations.rendering.display import AGAIN
from engram_host.companion.conversations.service import BRIDGE_IDS

_log = logging.getLogger("engram.bridges")

MOST_NOTICES = 32

RETRY_SECONDS = 2.0

_TRIES = 3
_KEY_CHARS = 32


class Notices:
    def __init__(
        self,
        bridge: str,
        people: PeopleService,
        outlets: Outlets,
        begin: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        wait_to_retry: RetryWait,
        features: Features,
    ):
        self._bridge = bridge
        self._people = people
        self._outlets = outlets
        self._begin = begin
        self._wait_to_retry = wait_to_retry
        self._features = features
        self.under_way = 0

    def send(self, message: Incoming, mid: str, admission: Admission) -> None:
        if self.under_way >= MOST_NOTICES:
            self._people.end_notice(admission)
            _log.info("a sentence was not sent: too many are under way", extra={"repeat": "notices"})
            return
        self.under_way += 1
        key = mid.removeprefix(BRIDGE_IDS)[:_KEY_CHARS] + "-n"
        outlet = self._outlets.take(message.chat.id)
        task = self._begin(self._try(message, key, admission, outlet))
        # Not in the task's `finally`: a task cancelled before it starts has none.
        task.add_done_callback(lambda _: self._end(message.chat.id, admission))

    def _end(self, chat: str, admission: Admission) -> None:
        self.under_way -= 1
        self._outlets.release(chat)
        self._people.end_notice(admission)

    async def _try(self, message: Incoming, key: str, admission: Admission, outlet: Outlet) -> None:
        """Retry until sent, refused or doubtful, which all count as sent: codes flood nobody."""
        is_over, text, is_doubtful = False, admission.reply, False
        for _ in range(_TRIES):
            is_over, pause = True, RETRY_SECONDS
            try:
                await outlet.send(message.chat, text, key, "", is_plain=True)
            except SendRefused as problem:
                _log.info("the bridge %s did not send a sentence: %s", self._bridge, problem)
            except SendFailed as problem:
                _log.info("the bridge %s did not send a sentence for sure: %s", self._bridge, problem)
                is_over = problem.is_doubtful and is_doubtful
                if problem.is_doubtful:
                    is_doubtful = True
                    heading = "" if self._features.is_repeatable else AGAIN
                    text = self._features.headed(heading, admission.reply)
                if isinstance(problem, SlowDown):
                    pause = problem.retry_after
            if is_over:
                break
            await self._wait_to_retry(pause)
        if is_over or is_doubtful:
            await self._people.mark_sent(admission)
        else:
            self._people.put_off_code(admission)
