"""Prometheus metrics, GET /metrics.

No label has values from outside, such as board names: the number of series is constant.
"""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from engram.link.messages import FROM_BOARD
from engram_host.companion.supervisor import TASKS

OUTCOMES = ("answered", "silent", "refused", "unreadable", "overdue")
"""silent: a late or repeated message, not answered; overdue: a hello dropped after a long wait."""

GATEWAY_REFUSALS = ("limit", "busy", "request", "service")
"""limit: daily; busy: too many calls; request: invalid; service: it failed."""


_OTHER = "other"

_TAKE_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
_SEARCH_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


class Metrics:
    """Counters and histograms; gauges are read from `gauges` when rendered."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.lines = self._counter("engram_lines_taken", "Lines of boards that are on disk.")
        self._messages = self._counter("engram_messages", "Messages of boards.", "kind", "outcome")
        self._refusals = self._counter("engram_refusals", "Messages of boards that were refused with an answer.")
        self._embedder = self._counter("engram_embedder_errors", "Times that no vector was made.", "work")
        self.gateway_calls = self._counter("engram_gateway_calls", "Calls of the gateway that are over.")
        self.gateway_tokens = self._counter("engram_gateway_tokens", "Tokens of these calls.")
        self._gateway_refusals = self._counter("engram_gateway_refusals", "Requests to the gateway that failed.", "why")
        self._tasks = self._counter(
            "engram_task_failures", "Failures of background tasks, which are started again.", "task"
        )
        self._bridge_messages = self._counter("engram_bridge_messages", "Messages through bridges.", "way")
        self._bridge_failures = self._counter("engram_bridge_failures", "Connections of bridges that ended.")
        self.failed_logins = self._counter("engram_failed_logins", "Logins that failed.")
        self.writes = self._histogram(
            "engram_take_seconds", "Lines taken into the database, a transaction.", _TAKE_SECONDS
        )
        self.searches = self._histogram("engram_search_seconds", "Searches.", _SEARCH_SECONDS, "caller")
        for kind in (*FROM_BOARD, _OTHER):
            for outcome in OUTCOMES:
                self._messages.labels(kind, outcome)
        for why in GATEWAY_REFUSALS:
            self._gateway_refusals.labels(why)
        for task in TASKS:
            self._tasks.labels(task)
        for way in ("in", "out"):
            self._bridge_messages.labels(way)
        for work in ("index", "query"):
            self._embedder.labels(work)
        for caller in ("board", "person"):
            self.searches.labels(caller)

    def count_message(self, kind: str, outcome: str) -> None:
        self._messages.labels(kind if kind in FROM_BOARD else _OTHER, outcome).inc()
        if outcome == "refused":
            self._refusals.inc()

    def embedder_failed(self, work: str) -> None:
        self._embedder.labels(work).inc()

    def task_failed(self, task: str) -> None:
        self._tasks.labels(task).inc()

    def count_bridge(self, what: str) -> None:
        """Count messages `in` or `out` of a bridge, or a lost connection (`failure`)."""
        if what == "failure":
            self._bridge_failures.inc()
        else:
            self._bridge_messages.labels(what).inc()

    def gateway_refused(self, why: str) -> None:
        self._gateway_refusals.labels(why).inc()

    def add_gauges(self, gauges: "Gauges") -> None:
        self._registry.register(_Gauges(gauges))

    def total(self, name: str) -> int:
        return int(self._registry.get_sample_value(f"{name}_total") or 0)

    def render(self) -> bytes:
        return generate_latest(self._registry)

    def _counter(self, name: str, what: str, *labels: str) -> Counter:
        return Counter(name, what, labels, registry=self._registry)

    def _histogram(self, name: str, what: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, what, labels, buckets=buckets, registry=self._registry)


Gauges = Callable[[], dict[str, float]]
"""Returns current values by names in GAUGES, without unknown ones; callable from any thread."""

GAUGES = {
    "engram_up_seconds": "Since the companion started.",
    "engram_waiting_batches": "Batches of lines that wait for the next transaction.",
    "engram_devices": "Boards that have been here.",
    "engram_index_bytes": "Memory of the search indexes, about.",
    "engram_indexes": "Boards whose search index is in memory.",
    "engram_backlog_lines": "Changes of lines that the embedder has still to look at.",
    "engram_database_bytes": "The database on disk.",
    "engram_disk_free_bytes": "Free on the disk of the companion's folder.",
    "engram_last_backup_timestamp_seconds": "When the last backup succeeded, in Unix seconds; 0 if none did.",
    "engram_database_usable": "1 if the database can be read and written, 0 if not.",
    "engram_folder_files": "Files of Markdown folders.",
    "engram_folder_passages": "Passages of these files that searches go through.",
    "engram_archived_records": "Memories that boards have archived here.",
    "engram_damaged_lines": "Lines that were found damaged in the database and have not come again.",
    "engram_flash_most_percent": "How full the fullest flash of a board is, in percent; absent while none has told it.",
    "engram_tasks_down": "Background tasks that failed and do not run now.",
    "engram_bridges_connected": "Bridges that are connected; absent without bridges.",
    "engram_bridges_down": "Bridges that are away, or stopped until a person acts; absent without bridges.",
    "engram_broker_connected": "1 if the MQTT broker is reached, 0 if not; absent without one.",
}


class _Gauges(Collector):
    def __init__(self, gauges: Gauges):
        self._gauges = gauges

    def describe(self) -> list[Metric]:
        return [GaugeMetricFamily(name, what) for name, what in GAUGES.items()]

    def collect(self) -> Iterator[Metric]:
        for name, value in self._gauges().items():
            yield GaugeMetricFamily(name, GAUGES[name], value=value)


LAST_BACKUP = "last-backup"
"""Marker file in the companion's folder; its mtime is the last successful backup."""


def note_backup(home: Path) -> None:
    with contextlib.suppress(OSError):  # the backup is complete, only its time is lost
        (home / LAST_BACKUP).touch()


def last_backup(home: Path) -> float:
    try:
        return (home / LAST_BACKUP).stat().st_mtime
    except OSError:
        return 0.0
