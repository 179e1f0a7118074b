"""The audit log of operators' requests, stored in the database."""

import asyncio
import logging
import time

from engram_host.companion.auth.identity import ApiCaller
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.tokens import AuditTable
from engram_host.companion.types import AuditEntry, BoundedDict

_log = logging.getLogger("engram.security")

EQUAL_SECONDS = 60.0
"""Equal requests within this time share an entry, so that polling cannot fill the log."""

MOST_REMEMBERED = 1024

ALLOWED, REFUSED = "allowed", "refused"


class AuditLog:
    def __init__(self, store: AuditTable):
        self._store = store
        self._noted: BoundedDict[tuple[str, ...], float] = BoundedDict(MOST_REMEMBERED)

    async def note(self, caller: ApiCaller, action: str, outcome: str, address: str) -> None:
        """Store an entry durably; a full disk only causes a log line."""
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
