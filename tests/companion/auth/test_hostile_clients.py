"""Clients by the hundred, in `make soak` by the thousand, that want a companion to stop: boards with a token do not notice."""

import re
import resource
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cli_case import fine
from extent import extent
from hostile import HOSTILE, Target, silent_http
from one_case import in_one_case
from peers import Companion
from sending import Sent
from waiting import wait_until

pytestmark = pytest.mark.shortened

MOST = extent(1000, 40)
CLIENTS = extent(4000, 120)
"""Several times as many as there is room for."""

OTHER_DESCRIPTORS = 64
"""Of the database, the loop and the log, and of connections that are being closed."""

MOST_LOG = 20_000
"""Bytes that all of one kind may make the companion log."""


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Companion, Target, Sent]]:
    """A companion that asks for tokens and takes MOST connections, and a board, kitchen."""
    home = tmp_path_factory.mktemp("hostile") / "home"
    token = fine("device", "add", "kitchen", "--home", home, "--json").json["token"]
    settings = {
        "ENGRAM_TOKENS": "on",
        "ENGRAM_CONNECTIONS": str(MOST),
        "ENGRAM_ADDRESS_CONNECTIONS": "0",
    }
    with Companion(home, **settings) as running:
        yield running, Target(running.http_port, token), Sent(running.posted, "kitchen")


@in_one_case("kind", HOSTILE)
def test_a_board_with_a_token_is_served_beside_them(companion: tuple[Companion, Target, Sent], kind: str):
    running, where, board = companion
    logged = len(running.all_printed())
    with HOSTILE[kind](where, CLIENTS):
        board.say("beside hostile clients")
        board.sync()
        assert _open_connections(running) <= MOST and _descriptors(running) < MOST + OTHER_DESCRIPTORS
    wait_until("all have left", lambda: _open_connections(running) < 10)
    log = running.all_printed()[logged:]
    assert "Traceback" not in log and len(log) < MOST_LOG, log[:2000]


def test_a_board_with_a_token_is_served_where_descriptors_run_out(companion: tuple[Companion, Target, Sent]):
    running, where, _ = companion
    logged = len(running.all_printed())
    before = resource.prlimit(running.pid, resource.RLIMIT_NOFILE)
    in_use = _descriptors(running)
    resource.prlimit(running.pid, resource.RLIMIT_NOFILE, (in_use + 20, before[1]))
    try:
        with silent_http(where, 100):
            assert httpx.get(f"{running.url}/openapi.json", timeout=20).status_code == 200
    finally:
        resource.prlimit(running.pid, resource.RLIMIT_NOFILE, before)
    log = running.all_printed()[logged:]
    assert "Too many open files" in log and "Traceback" not in log and len(log) < MOST_LOG, log[:2000]


def _descriptors(running: Companion) -> int:
    return len(list(Path(f"/proc/{running.pid}/fd").iterdir()))


def _open_connections(running: Companion) -> int:
    found = re.search(r"^engram_connections (\S+)$", running.client.get("/metrics").text, re.MULTILINE)
    assert found
    return int(float(found[1]))
