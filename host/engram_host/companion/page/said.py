"""The companion's own sentences in views, translated by the catalogs."""

from engram_host.companion.alerts.board_warnings import BOARD_WARNINGS
from engram_host.companion.alerts.outbox import ALERT_PROBLEMS
from engram_host.companion.bridges.running import BRIDGE_PROBLEMS
from engram_host.companion.conversations.service import WAITING
from engram_host.companion.diagnosis.findings import CHECKS
from engram_host.companion.errors import REFUSALS
from engram_host.companion.imports.service import STOPS
from engram_host.companion.memories.outcome import DAMAGED
from engram_host.companion.overview.absence import ABSENCES
from engram_host.companion.overview.warnings import COPY_WARNINGS
from engram_host.companion.search.request import REASONS
from engram_host.companion.store.boards.copy_events import EVENTS
from engram_host.companion.supervisor import FAILURES

TABLES = (
    BOARD_WARNINGS,
    COPY_WARNINGS,
    CHECKS,
    EVENTS,
    REFUSALS,
    WAITING,
    STOPS,
    DAMAGED,
    FAILURES,
    BRIDGE_PROBLEMS,
    ALERT_PROBLEMS,
    REASONS,
    ABSENCES,
)
"""Tables in order of recognition: sentences that begin with a placeholder are last."""
