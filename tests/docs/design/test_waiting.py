"""No test sleeps and hopes: pauses stand in the helpers that wait for a sign, and where a time is what is tried."""

import ast
import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]

PAUSES = {
    # The helpers.
    ("support/waiting.py", "wait_until"): "between two looks",
    ("support/waiting.py", "wait_until_async"): "between two looks",
    ("support/companion/served_companion.py", "soon"): "between two requests to a companion",
    ("support/bridges/matrix_peer.py", "_listen"): "between two requests to a homeserver that was killed",
    ("support/firmware/support.py", "wait_until"): "between two looks",
    ("support/firmware/fakes/links.py", "_ready"): "between two polls of a socket, as MicroPython's asyncio does it",
    # A peer that is slow, or late, or far away.
    ("support/firmware/llm_peer.py", "_play"): "a model takes so long for an answer",
    ("support/firmware/mqtt_peer.py", "send"): "pieces of a message arrive one by one",
    ("support/firmware/fake_companion.py", "send"): "a message is under way for so long",
    ("support/companion/peers.py", ""): "a board's own pauses between two looks after its memory, shorter",
    ("support/boards/board_stand_in.py", "_restart"): "a board takes so long to boot",
    ("support/store/embedding_service.py", "_send_faulty"): "a service takes longer than its client waits",
    ("support/companion/leaky_service.py", "endless"): "a model is slower than who reads its answer",
    ("support/companion/faulty.py", "work"): "a relay that lost its broker connects again",
    ("support/companion/faulty.py", "_pass"): "a message is late, by a seed",
    ("support/companion/faulty.py", "_take"): "a request is late, by a seed",
    ("companion/auth/test_security_http.py", "send_without_end"): "a client sends a request byte by byte",
    ("companion/test_background_tasks.py", ""): "a server that fails a while after its start",
    ("companion/folders/test_folders_watch.py", "change"): "changes come at these times of a clock that jumps",
    ("companion/replication/test_replication_faults.py", "_talk_through"): "a person talks on, by a seed",
    ("companion/bridges/test_deliveries.py", "work"): "an hour of a clock that jumps",
    (
        "companion/bridges/test_discord.py",
        "test_a_gateway_that_ends_each_connection_is_an_outage",
    ): "a gateway asks to connect again, as fast as it can",
    ("support/bridges/slack_socket_fake.py", "_keep_giving"): "a service waits so long for an acknowledgement",
    ("support/companion/fleet_boards.py", "_run"): "between two attempts to reach a broker that was killed",
    ("support/companion/fleet_boards.py", "send"): "a lost connection is noticed after the first error",
    ("support/companion/fleet_boards.py", "copy"): "a board that got no answer connects again, at random",
    ("companion/processes/test_three_processes.py", "run"): "people search one thing after the other",
    # A kill or a signal at any moment: each is right.
    ("e2e/test_learning.py", "test_killed_again_and_again_it_reads_each_message_once"): "a kill, later each time",
    ("e2e/test_restart.py", "killed_while_remembering"): "a kill, by a seed",
    ("e2e/console/test_signals.py", "test_a_signal_before_the_board_is_up_ends_it_too"): "a signal, later each time",
    ("companion/conversations/test_conversation_faults.py", "work"): "a kill, by a seed",
    ("companion/conversations/test_conversation_kills.py", "_play"): "a kill, by a seed",
    ("companion/replication/test_archive_kills.py", "_play"): "a kill, by a seed",
    ("companion/replication/test_replication_kills.py", "_play"): "a kill, by a seed",
    ("companion/store/test_store_failures.py", "killed"): "a kill, at random",
    ("firmware/link/test_link_conversation.py", "endless"): "a model that never ends",
    # The pause itself is tried, or asked for by the code under test.
    ("firmware/device/test_device_wifi.py", "sleep_ms"): "in the time of fakes/world.py, which the test sets",
    ("firmware/device/test_network_wakes.py", "sleep_ms"): "in the time of fakes/world.py, which the test sets",
    ("support/keyboard/keyboard_board.py", "command"): "the command asks for it",
}
"""By file and function: what each pause is for."""

SERVERS = TESTS / "support" / "servers"
"""Services that are slow or late by their scripts."""

_SLEEP = re.compile(r"(?<!def )\bsleep(?:_ms|_us)?\((?!0\))")
"""A pause; one of 0 only lets other tasks run."""


def _functions(tree: ast.AST) -> list[tuple[int, int, str]]:
    """The first and last lines of all functions, and their names; an inner one after the one around it."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [(node.lineno, node.end_lineno or 0, node.name) for node in ast.walk(tree) if isinstance(node, kinds)]


def _pauses() -> set[tuple[str, str]]:
    """File and function of each pause in the tests, in programs within texts too."""
    found = set()
    for path in TESTS.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path == Path(__file__) or SERVERS in path.parents or not _SLEEP.search(text):
            continue
        functions = _functions(ast.parse(text))
        for number, line in enumerate(text.splitlines(), 1):
            if _SLEEP.search(line):
                around = [name for first, last, name in functions if first <= number <= last]
                found.add((path.relative_to(TESTS).as_posix(), around[-1] if around else ""))
    return found


def test_each_pause_in_a_test_has_a_reason_and_all_else_waits_for_a_sign():
    assert sorted(_pauses() - PAUSES.keys()) == [], (
        "wait with wait_until() of tests/support/waiting.py or tests/support/firmware/support.py"
    )


def test_each_reason_for_a_pause_is_needed():
    assert sorted(PAUSES.keys() - _pauses()) == []
