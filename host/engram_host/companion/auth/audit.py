"""The audit log: which operator did what, kept in the database."""

import asyncio
import logging
import time
from collections import OrderedDict

from engram_host.companion.auth.identity import ApiCaller
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.tokens import AuditTable
from engram_host.companion.types import AuditEntry

_log = logging.getLogger("engram.security")

EQUAL_SECONDS = 60.0
"""Equal requests within this time are one entry: a program that asks each second does not push all others out."""

MOST_REMEMBERED = 1024
"""Entries that are remembered for that: protects the memory."""

ALLOWED, REFUSED = "allowed", "refused"


class AuditLog:
    """Notes requests of operators; those without a token, where none is needed, are nobody's and not noted."""

    def __init__(self, store: AuditTable):
        self._store = store
        self._noted: OrderedDict[tuple[str, ...], float] = OrderedDict()

    async def note(self, caller: ApiCaller, action: str, outcome: str, address: str) -> None:
        """Keep that an operator did something, on disk when the call returns; in the log if the database cannot be written, so
        that a full disk does not keep anybody from looking.
        """
        key = (caller.name, action, outcome, address)
        if self._noted.get(key, 0.0) > time.monotonic():
            return
        entry = AuditEntry(int(time.time()), *key)
        try:
            await asyncio.to_thread(self._store.add_audit, entry)
        except StoreUnavailable as problem:
            _log.warning("not in the audit log: %s, %s, %s, from %s: %s", *key, problem)
            return
        self._noted[key] = time.monotonic() + EQUAL_SECONDS
        self._noted.move_to_end(key)
        while len(self._noted) > MOST_REMEMBERED:
            self._noted.popitem(last=False)
