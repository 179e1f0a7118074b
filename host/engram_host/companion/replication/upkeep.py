"""Upkeep of the database: removes expired data, and checks everything while boards or backups can repair it."""

import logging
import time

from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.health import HealthTable
from engram_host.companion.store.removal import RemovalTable
from engram_host.companion.types import RetentionLimits

_log = logging.getLogger("engram.upkeep")

FIRST_SECONDS = 60.0
"""Delay after the start, since boards and people connect in the first minute."""

EXPIRE_EVERY_SECONDS = 3600.0

CHECK_EVERY_SECONDS = 24 * 3600.0

_PAUSE_SECONDS = 0.02
"""Pause after some thousand lines, to leave disk and processor to others."""


def expire(store: RemovalTable, limits: RetentionLimits) -> None:
    try:
        if removed := store.expire(limits, int(time.time())):
            _log.info("rows removed by age or size: %d", removed)
    except StoreUnavailable as problem:
        _log.warning("what is to be removed by its age stays for now: %s", problem)


def check(store: HealthTable) -> None:
    try:
        store.check(lambda: time.sleep(_PAUSE_SECONDS))
    except StoreUnavailable as problem:
        _log.warning("the database could not be checked to its end: %s", problem)
