"""`engram serve --workers`: several processes that are one companion to whoever asks."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import get_mosquitto
from engram_host.companion.workers.homes import HomeWorkers
from engram_host.companion.workers.peers import Peers
from engram_host.companion.workers.place import WorkerPlace
from peers import Broker, Companion
from postgres_server import PostgresServer
from sending import Sent
from serve_process import failed_start
from waiting import wait_until

needs_mosquitto = pytest.mark.skipif(not get_mosquitto.usable(), reason="there is no mosquitto for this machine")


CONNECTIONS = 8
"""Each is taken by any worker."""


class SeveralWorkers(Companion):
    """A companion of several workers."""

    def __init__(self, home: Path, workers: int, mqtt_url: str, store_url: str):
        super().__init__(home, mqtt_url, ENGRAM_STORE_URL=store_url)
        self.workers = workers

    def command(self) -> tuple[list[str], dict[str, str]]:
        words, variables = super().command()
        return [*words, "--workers", str(self.workers)], variables

    def worker_pids(self) -> list[int]:
        """The processes of its workers."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii")
        return [int(pid) for pid in children.split()]

    def worker_pid(self, number: int) -> int:
        """The process of the worker with a number."""
        place = f'"number": {number},'.encode()
        return next(pid for pid in self.worker_pids() if place in Path(f"/proc/{pid}/environ").read_bytes())


@pytest.mark.parametrize(
    ("words", "variables", "name"),
    [
        (("--mqtt-url", "mqtt://127.0.0.1:1"), {}, "store.url"),
        ((), {"ENGRAM_STORE_URL": "postgresql://127.0.0.1:1/x"}, "mqtt.url"),
    ],
)
def test_what_several_workers_cannot_share_is_refused(
    tmp_path: Path, words: tuple[str, ...], variables: dict[str, str], name: str
):
    status, told = failed_start(tmp_path / "home", "--workers", "2", "--http-port", "0", *words, **variables)
    assert status == 2 and name in told and "for several workers" in told and "Traceback" not in told


@pytest.fixture
def three(tmp_path: Path, postgres: PostgresServer) -> Iterator["SeveralWorkers"]:
    """A companion of three workers."""
    postgres.clear()
    with Broker() as broker, SeveralWorkers(tmp_path / "home", 3, broker.url, postgres.url) as companion:
        yield companion


@needs_mosquitto
@pytest.mark.soak
def test_whichever_worker_is_asked_a_board_is_searched_at_its_home_and_metrics_are_those_of_all(
    three: SeveralWorkers,
):
    names = [f"board-{number}" for number in range(8)]
    for name in names:
        board = Sent(three.posted, name)
        board.say(f"the bicycle of {name} is green", scope="all")
        board.sync()
    for _ in range(CONNECTIONS):
        with httpx.Client(base_url=three.url, headers=three.client.headers, timeout=30) as client:
            for name in names:
                question = {"query": "bicycle", "devices": [name], "meaning": False}
                (hit,) = client.post("/v1/search", json=question).json()["hits"]
                assert (hit["device"], hit["text"]) == (name, f"the bicycle of {name} is green")
    with httpx.Client(base_url=three.url, headers=three.client.headers, timeout=30) as client:

        def page_of_all() -> str:
            page = client.get("/metrics").text
            return page if len(_figures(page, "engram_indexes")) == 3 else ""  # one that takes long is left out

        shown = wait_until("all three tell", page_of_all)
    indexes, taken = _figures(shown, "engram_indexes"), _figures(shown, "engram_lines_taken_total")
    assert sum(indexes.values()) == len(names)
    assert sum(taken.values()) == len(names)


OWNER = {"principal": "owner", "group": False, "workspace": "", "tags": [], "since": 0, "until": 0, "folders": False}


@needs_mosquitto
@pytest.mark.soak
def test_a_boards_own_search_is_answered_alike_by_all_workers_and_also_when_its_home_is_killed(
    tmp_path: Path, postgres: PostgresServer
):
    postgres.clear()
    with Broker() as broker, SeveralWorkers(tmp_path / "home", 2, broker.url, postgres.url) as companion:
        board = Sent(companion.posted, "kitchen")
        board.say("the bicycle is green", scope="all")
        board.sync()

        def found() -> list[list[object]]:
            """The hits of a search of the board over a connection of its own, which any worker takes."""
            with httpx.Client(base_url=companion.url, headers=companion.client.headers, timeout=30) as client:

                def post(device: str, message: bytes) -> bytes:
                    answer = client.post(f"/v1/devices/{device}/messages", content=message, headers=_BINARY)
                    assert answer.status_code == 200, answer.text
                    return answer.content

                board.post = post
                answers = board.ask_all("search", query="bicycle", limit=5, **OWNER)
            return [hit for answer in answers for hit in answer["items"]]

        first = found()
        assert first and all(found() == first for _ in range(CONNECTIONS))
        places = HomeWorkers(Peers(WorkerPlace(0, 2, -1, -1, "")))
        home = companion.worker_pid(places.order("kitchen")[0])
        companion.client.close()
        os.kill(home, signal.SIGKILL)
        wait_until("it has ended", lambda: home not in companion.worker_pids())
        assert found() == first


_BINARY = {"Content-Type": "application/octet-stream"}


def _figures(page: str, name: str) -> dict[int, float]:
    """The values of a figure by worker."""
    found = re.findall(rf'^{name}{{worker="(\d)"}} (\S+)$', page, re.MULTILINE)
    return {int(worker): float(value) for worker, value in found}


@needs_mosquitto
def test_a_killed_worker_is_replaced_while_the_others_serve_and_all_end_on_a_signal(
    tmp_path: Path, postgres: PostgresServer
):
    postgres.clear()
    with Broker() as broker, SeveralWorkers(tmp_path / "home", 2, broker.url, postgres.url) as companion:
        board = Sent(companion.posted, "kitchen")
        board.say("hello")
        board.sync()
        before = companion.worker_pids()
        os.kill(before[0], signal.SIGKILL)
        wait_until("it has ended", lambda: before[0] not in companion.worker_pids())
        board.say("one worker is gone")
        board.sync()
        after = wait_until("there are two again", lambda: pids if len(pids := companion.worker_pids()) == 2 else [])
        assert before[1] in after and before[0] not in after
        assert [line["text"] for line in companion.lines("kitchen", "journal")] == ["hello", "one worker is gone"]
        companion.client.close()
        assert companion.stop() == 0
        assert not any(subprocess.run(["kill", "-0", str(pid)], capture_output=True).returncode == 0 for pid in after)
