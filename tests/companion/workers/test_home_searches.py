"""A board's own search goes to its home worker: one memory holds the index, and every worker gives the same answer."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from engram import log_line
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.errors import Refused
from engram_host.companion.replication import home_searches
from engram_host.companion.replication.home_searches import HomeSearches
from engram_host.companion.replication.messages import SearchHead
from engram_host.companion.search_service import SearchService
from engram_host.companion.settings import EmbeddingSettings, SearchSettings
from engram_host.companion.store import choose_store
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.workers.homes import HomeWorkers
from engram_host.companion.workers.peers import Peers
from engram_host.companion.workers.place import WorkerPlace
from plain_board import PlainBoard
from postgres_server import PostgresServer

pytestmark = pytest.mark.soak

BOARDS = [f"board-{number}" for number in range(8)]
HEAD: SearchHead = {
    "op": "search",
    "board": "board-1",
    "link": 1,
    "n": 9,
    "principal": "owner",
    "group": False,
    "workspace": "",
    "query": "kettle",
    "limit": 5,
    "tags": [],
    "since": 0,
    "until": 0,
    "folders": False,
}


class Worker:
    """One of two workers: its indexes, and its answers to searches of boards."""

    def __init__(self, number: int, url: str, folder: Path):
        self.store = choose_store(url)
        self.store.open()
        meaning = EmbeddingService(self.store, EmbeddingSettings(provider="none"), Supervisor())
        self.search = SearchService(self.store, SearchSettings(index_megabytes=16, meaning=False), meaning)
        self.peers = Peers(WorkerPlace(number, 2, -1, -1, str(folder)))
        self.homes = HomeWorkers(self.peers)
        self.is_stuck = False
        self.board_searches = HomeSearches(self.homes, self._answer)

    async def _answer(self, device: str, head: SearchHead) -> list[bytes]:
        if self.is_stuck:
            await asyncio.get_running_loop().create_future()
        return await self.search.answer_board(device, head)

    async def found(self, device: str) -> list[Any]:
        """The hits that a board is answered here."""
        answers = await self.board_searches.answer_board(device, HEAD)
        return [hit for answer in answers for hit in log_line.decode(answer)["items"]]


@contextlib.asynccontextmanager
async def two_workers(url: str, folder: Path) -> AsyncIterator[list[Worker]]:
    async with contextlib.AsyncExitStack() as stack:
        workers = [Worker(number, url, folder) for number in range(2)]
        for worker in workers:
            await worker.peers.start()
            stack.push_async_callback(worker.peers.stop)
            stack.callback(worker.store.close)
        yield workers


@pytest.fixture
def play(postgres: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Plays with two workers that serve boards, and each board has said something of a kettle."""
    monkeypatch.setattr(home_searches, "SECONDS", 30.0)  # on a busy machine a home may need longer than a board waits
    postgres.clear()
    store = choose_store(postgres.url)
    store.open()
    for name in BOARDS:
        board = PlainBoard(store, name)
        journal = board.logs["journal"]
        fields = {"sid": "s1", "role": "user", "who": "owner", "text": f"the kettle of {name}", "at": 1795247157}
        fields |= {"prev": 0, "n": 0, "scope": "all"}
        journal.lines[1] = log_line.encode([("seq", 1), *fields.items()])
        journal.next = 2
        board.sync()
    store.close()

    def in_time(script: Callable[[Worker, Worker], Coroutine[Any, Any, None]]) -> None:
        async def run() -> None:
            async with asyncio.timeout(50), two_workers(postgres.url, tmp_path) as workers:
                await script(*workers)

        asyncio.run(run())

    return in_time


def home_of(device: str, first: Worker, second: Worker) -> tuple[Worker, Worker]:
    """The home of a board, and the other worker."""
    return (first, second) if first.homes.is_home(device) else (second, first)


def test_a_board_is_answered_alike_by_both_workers_and_its_index_is_in_the_memory_of_its_home(play: Any):
    async def script(first: Worker, second: Worker) -> None:
        for device in BOARDS:
            answers = [await first.found(device), await second.found(device)]
            assert answers[0] == answers[1] and [turn for turn, *_ in answers[0]] == ["t1"]
        homes = {name: home_of(name, first, second)[0] for name in BOARDS}
        assert len(set(homes.values())) == 2
        for worker in (first, second):
            assert sorted(worker.search.indexed) == [name for name in BOARDS if homes[name] is worker]

    play(script)


@pytest.mark.parametrize("is_stuck", [False, True], ids=["is gone", "gives no answer in time"])
def test_a_board_whose_home_gives_no_answer_is_answered_alike_by_the_other_worker(
    play: Any, monkeypatch: pytest.MonkeyPatch, is_stuck: bool
):
    async def script(first: Worker, second: Worker) -> None:
        home, other = home_of("board-1", first, second)
        before = await other.found("board-1")
        assert other.search.indexed == []
        if is_stuck:
            monkeypatch.setattr(home_searches, "SECONDS", 0.05)
            home.is_stuck = True
        else:
            await home.peers.stop()
        assert await other.found("board-1") == before
        assert other.search.indexed == ["board-1"]

    play(script)


def test_what_the_home_refuses_is_refused_alike_by_the_other_worker(play: Any):
    async def script(first: Worker, second: Worker) -> None:
        for worker in (first, second):
            with pytest.raises(Refused, match="has nothing of this board yet"):
                await worker.found("unknown")

    play(script)
