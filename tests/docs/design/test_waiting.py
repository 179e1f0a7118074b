"""No test sleeps and hopes: pauses stand in the helpers that wait for a sign, and where a time is what is tried."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]

PAUSES = {
    "companion/auth/test_security_http.py", "companion/bridges/test_discord.py",
    "companion/conversations/test_conversation_faults.py", "companion/conversations/test_conversation_kills.py",
    "companion/processes/test_three_processes.py", "companion/replication/test_archive_kills.py",
    "companion/replication/test_replication_faults.py", "companion/replication/test_replication_kills.py",
    "companion/test_background_tasks.py", "e2e/console/test_signals.py",
    "e2e/test_learning.py", "e2e/test_restart.py", "firmware/device/test_device_wifi.py",
    "firmware/link/test_link_conversation.py", "support/boards/board_stand_in.py", "support/bridges/matrix_peer.py",
    "support/bridges/slack_socket_fake.py", "support/companion/faulty.py", "support/companion/fleet_boards.py",
    "support/companion/leaky_service.py", "support/companion/peers.py", "support/companion/served_companion.py",
    "support/firmware/fake_companion.py", "support/firmware/fakes/links.py", "support/firmware/llm_peer.py",
    "support/firmware/mqtt_peer.py", "support/firmware/support.py", "support/keyboard/keyboard_board.py",
    "support/store/embedding_service.py", "support/waiting.py",
}  # fmt: skip
"""Files with a pause: of helpers that look again, of peers that are slow, of kills at any moment, or of a clock that is set."""

SERVERS = TESTS / "support" / "servers"
"""Services that are slow or late by their scripts."""

_SLEEP = re.compile(r"(?<!def )\bsleep(?:_ms|_us)?\((?!0\))")
"""A pause; one of 0 only lets other tasks run."""


def _pauses() -> set[str]:
    """Files of the tests with a pause, in programs within texts too."""
    files = [path for path in TESTS.rglob("*.py") if path != Path(__file__) and SERVERS not in path.parents]
    return {path.relative_to(TESTS).as_posix() for path in files if _SLEEP.search(path.read_text(encoding="utf-8"))}


def test_each_pause_in_a_test_is_known_and_all_else_waits_for_a_sign():
    assert _pauses() == PAUSES, (
        "wait with wait_until() of tests/support/waiting.py or tests/support/firmware/support.py"
    )
