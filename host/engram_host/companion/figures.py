"""What stands in a companion now, in numbers: for /metrics and for /v1/stats."""

import time
from typing import TYPE_CHECKING

from engram_host.companion.errors import StoreUnavailable

if TYPE_CHECKING:
    from engram_host.companion.app import CompanionApp


class CompanionGauges:
    """The gauges of a service, by the names in metrics.GAUGES. Blocks some ms: call it in a thread."""

    def __init__(self, service: "CompanionApp"):
        self._service = service
        self._began = time.monotonic()

    def __call__(self) -> dict[str, float]:
        """What can be told now."""
        service = self._service
        found: dict[str, float] = {
            "engram_up_seconds": time.monotonic() - self._began,
            "engram_waiting_batches": service.replication.waiting,
            "engram_index_bytes": service.searching.index_bytes,
            "engram_backlog_lines": service.meaning.left,
        }
        states = [status.state for status in service.supervisor.statuses()]
        found["engram_tasks_down"] = states.count("restarting") + states.count("failed")
        if service.bus:
            found["engram_broker_connected"] = float(service.bus.is_connected)
        read = [one.progress for one in service.folders.standings]
        found["engram_folder_files"] = sum(progress.total for progress in read)
        found["engram_folder_passages"] = sum(progress.passages for progress in read)
        try:
            found["engram_devices"] = len(service.store.devices())
            found["engram_archived_records"] = service.store.count_archived()
            found["engram_database_bytes"] = service.store.size()
        except StoreUnavailable:
            pass  # /v1/health tells of it; the other figures are worth showing
        return found
