"""Listens for notices of other processes and passes them on."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.database import Database
from engram_host.companion.store.values import Notice, parse_notice
from engram_host.companion.supervisor import BackgroundPart, Supervisor

_log = logging.getLogger("engram.notices")

TASK = "conversations notices"

RETRY_SECONDS = 1.0

OnNotice = Callable[[Notice], None]


class NoticeListener(BackgroundPart):
    def __init__(self, database: Database, supervisor: Supervisor, listeners: Sequence[OnNotice]):
        super().__init__(supervisor, TASK)
        self._database = database
        self._listeners = listeners

    def start(self) -> None:
        if self._database.is_shared:
            super().start()

    async def _run(self) -> None:
        while True:
            try:
                async with contextlib.aclosing(self._database.notices()) as notices:
                    async for payload in notices:
                        notice = parse_notice(payload)
                        for tell in self._listeners:
                            tell(notice)
            except StoreUnavailable as problem:
                _log.warning("changes of other processes are seen later: %s", problem, extra={"repeat": "notices"})
            await asyncio.sleep(RETRY_SECONDS)
