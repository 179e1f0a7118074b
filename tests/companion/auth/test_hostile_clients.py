"""Clients by the hundred, in `make soak` by the thousand, that want a companion to stop: boards with a token do not notice."""

import asyncio
import resource
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from cli_case import fine
from engram_host.companion.api import server
from engram_host.companion.api.server import WebServer, find_connection_limit
from engram_host.companion.lockfile import bind_socket
from engram_host.companion.supervisor import Supervisor
from extent import extent
from hostile import HOSTILE, Target
from one_case import in_one_case
from peers import Companion
from sending import Sent
from waiting import SECONDS, wait_until

pytestmark = pytest.mark.shortened

CLIENTS = extent(6000, 300)

MOST_LOG = 20_000
"""Bytes that all of one kind may make the companion log."""


@pytest.fixture(scope="module")
def companion(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Companion, Target, Sent]]:
    """A companion that asks for tokens, and a board, kitchen."""
    assert find_connection_limit() > CLIENTS, "this system has too few open files for the test"
    home = tmp_path_factory.mktemp("hostile") / "home"
    token = fine("device", "add", "kitchen", "--home", home, "--json").json["token"]
    with Companion(home, ENGRAM_TOKENS="on", ENGRAM_MESSAGES_A_SECOND="0") as running:
        yield running, Target(running.http_port, token), Sent(running.posted, "kitchen")


@in_one_case("kind", HOSTILE)
def test_a_board_with_a_token_is_served_beside_them(companion: tuple[Companion, Target, Sent], kind: str):
    running, where, board = companion
    logged, before = len(running.all_printed()), _descriptors(running)
    with HOSTILE[kind](where, CLIENTS):
        board.say("beside hostile clients")
        board.sync()
    wait_until("all have left", lambda: _descriptors(running) < before + 10)
    log = running.all_printed()[logged:]
    assert "Traceback" not in log and len(log) < MOST_LOG, log[:2000]


# --- the limit


def test_beyond_the_limit_a_request_gets_503_and_the_rest_is_closed_until_idle_clients_have_gone(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(server, "HEAD_SECONDS", 1.0)
    monkeypatch.setattr(server, "TOLD_BUSY", 1)

    async def play() -> None:
        app = FastAPI()
        web = WebServer(app, bind_socket("127.0.0.1", 0), "127.0.0.1", Supervisor(), 3)
        await web.start()

        async def status() -> int:
            async with httpx.AsyncClient(base_url=web.url) as client:
                return (await client.get("/openapi.json")).status_code

        idle = [await asyncio.open_connection("127.0.0.1", web.port) for _ in range(3)]
        assert await status() == 503
        idle += [await asyncio.open_connection("127.0.0.1", web.port) for _ in range(2)]
        assert await idle[-1][0].read() == b""
        async with asyncio.timeout(SECONDS):
            for reader, writer in idle:
                assert await reader.read() == b""
                writer.close()
        assert await status() == 200
        await web.stop()

    asyncio.run(play())


@in_one_case(
    "limits, raised, connections",
    [
        ((256, 4096), [(4096, 4096)], 3776),
        ((4096, 4096), [], 3776),
        ((1 << 20, 1 << 20), [], 1 << 13),
        ((300, 300), [], 150),
        ((256, resource.RLIM_INFINITY), [(8512, resource.RLIM_INFINITY)], 1 << 13),
    ],
)
def test_the_limit_of_open_files_is_raised_to_the_hard_one_and_bounds_connections(
    limits: tuple[int, int], raised: list[tuple[int, int]], connections: int, monkeypatch: pytest.MonkeyPatch
):
    changed: list[tuple[int, int]] = []
    monkeypatch.setattr(server.resource, "getrlimit", lambda _: limits)
    monkeypatch.setattr(server.resource, "setrlimit", lambda _, wanted: changed.append(wanted))
    assert (find_connection_limit(), changed) == (connections, raised)


def _descriptors(running: Companion) -> int:
    return len(list(Path(f"/proc/{running.pid}/fd").iterdir()))
