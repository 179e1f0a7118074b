"""Three workers, as on three machines, on one PostgreSQL and one mosquitto, while workers, broker and database are killed.

Nothing that was acknowledged is lost, nothing is there twice, and nobody who searches finds what was forgotten.
"""

import asyncio
import contextlib
import itertools
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

import get_mosquitto
from fleet_boards import FleetBoard, Hub
from peers import Broker, Companion
from postgres_process import binaries
from postgres_server import PostgresServer
from waiting import SECONDS, wait_until, wait_until_async

WORKERS = 3
BOARDS = 1000
BOARDS_OF_HUB = 100
"""Boards that share a connection to the broker: a client takes long for each message where many are under way."""

TALKING = 200
"""Boards that talk at the same time, at most: they, the workers, the broker and the database share the cores."""

ROUNDS = 2
"""Of what each board says and copies at least; it goes on until the last kill is over."""

KILLS = 6
"""Of a worker; after each third one the broker and the database are killed as well."""

PROGRESS = 500
"""Lines that have to be acknowledged between two kills."""

SEARCHERS = 4
ANSWERED = 0.9
"""The least share of answered searches, counting those at a worker that runs while the database does."""

WITHIN = 600.0


class Talking(FleetBoard):
    """A board that keeps memories and forgets some of them; `forgotten` has words that no search may find any more."""

    def __init__(self, hub: Hub, device: str):
        super().__init__(hub, device)
        self.kept: list[str] = []
        self.forgotten: list[str] = []
        self._numbers = itertools.count()

    def word(self) -> str:
        return f"{self.device}word{next(self._numbers)}"

    async def play_round(self) -> None:
        """Say something, keep two memories, forget one of them, and copy all that, at last without the forgotten one."""
        self.say(f"turn {self.word()}", scope="all")
        lasting, passing = self.word(), self.word()
        seq = self.keep(f"the {passing} is blue", scope="all")
        self.keep(f"the {lasting} is green", scope="all")
        await self.copy()
        self.kept.append(lasting)
        tombstone = self.write("records", op="forget", id=f"m{seq}", at=1795247300, was=seq)
        await self.copy()
        self.forgotten.append(passing)
        self.keep(f"the {self.word()} is red", scope="all")
        self.compact({seq, tombstone})
        await self.copy()


DATABASE = "the database"


class Outages:
    """Keeps which workers, by their URL, are down, and whether the database is: searches may fail then."""

    def __init__(self) -> None:
        self._down: set[str] = set()
        self._count = 0

    def begin(self, what: str) -> None:
        """It is about to be killed."""
        self._down.add(what)
        self._count += 1

    def end(self, what: str) -> None:
        """It is there again."""
        self._down.discard(what)

    def count_at(self, url: str) -> int:
        """The number of outages so far, -1 while that worker or the database is down."""
        return -1 if self._down & {url, DATABASE} else self._count


class Searches:
    """Searches at any worker for what was forgotten, and for what was kept."""

    def __init__(self, boards: list[Talking], urls: list[str], outages: Outages):
        self._boards = boards
        self._urls = urls
        self._outages = outages
        self.found_forgotten: list[str] = []
        self.missed: list[str] = []
        self.asked = 0
        """Searches during which nothing was down that they need."""
        self.answered = 0
        """The answered ones among them."""

    async def run(self, is_over: Callable[[], bool]) -> None:
        async with httpx.AsyncClient(timeout=SECONDS) as client:
            while not is_over():
                await self._ask(client, random.choice(self._boards), random.choice(self._urls))
                await asyncio.sleep(0.01)

    async def _ask(self, client: httpx.AsyncClient, board: Talking, url: str) -> None:
        if not board.forgotten:
            return
        passing, lasting = random.choice(board.forgotten), random.choice(board.kept)
        before = self._outages.count_at(url)
        hits = [await self._hits(client, url, board.device, word) for word in (passing, lasting)]
        is_undisturbed = before == self._outages.count_at(url) != -1
        self.asked += is_undisturbed
        if hits[0] is None or hits[1] is None:
            return
        self.answered += is_undisturbed
        if any(passing in text for text in hits[0]):
            self.found_forgotten.append(passing)
        if not any(lasting in text for text in hits[1]):
            self.missed.append(lasting)

    async def _hits(self, client: httpx.AsyncClient, url: str, device: str, word: str) -> list[str] | None:
        """The texts that are found; None if that worker, or the database, is down."""
        question = {"query": word, "devices": [device], "meaning": False}
        try:
            answer = await client.post(f"{url}/v1/search", json=question)
        except (httpx.NetworkError, httpx.RemoteProtocolError):
            return None  # the connection broke, or there was none
        if answer.status_code == 503:
            return None
        assert answer.status_code == 200, answer.text
        return [hit["text"] for hit in answer.json()["hits"]]


class Kills:
    """Kills servers, and starts them again once the boards have got on without them, or with them."""

    def __init__(
        self,
        boards: list[Talking],
        workers: list[Companion],
        broker: Broker,
        postgres: PostgresServer,
        outages: Outages,
    ):
        self._boards = boards
        self._outages = outages
        self._workers = workers
        self._broker = broker
        self._postgres = postgres
        self.is_over = False

    async def run(self) -> None:
        for number in range(KILLS):
            worker = self._workers[number % WORKERS]
            await self._progress()
            self._outages.begin(worker.url)
            await asyncio.to_thread(worker.kill)
            await self._progress()  # the others go on
            await asyncio.to_thread(worker.start)
            self._outages.end(worker.url)
            if number % WORKERS == WORKERS - 1:
                await asyncio.to_thread(self._broker.kill)
                await asyncio.to_thread(self._broker.start)
                await self._progress()
                self._outages.begin(DATABASE)
                await asyncio.to_thread(self._postgres.stop, signal.SIGQUIT)
                await asyncio.to_thread(self._postgres.start)
                self._outages.end(DATABASE)
                await self._progress()
        self.is_over = True

    async def _progress(self) -> None:
        """Wait until boards have been told of more lines that they are on disk."""
        before = self._acknowledged
        await wait_until_async("boards get on", lambda: self._acknowledged >= before + PROGRESS, within=WITHIN)

    @property
    def _acknowledged(self) -> int:
        return sum(board.acknowledged for board in self._boards)


def _stored(url: str) -> tuple[dict[tuple[str, str], list[tuple[int, bytes]]], list[tuple[Any, ...]]]:
    """The lines of each copy, and what was set aside of them, and why."""
    found: dict[tuple[str, str], list[tuple[int, bytes]]] = {}
    with psycopg.connect(url) as connection:
        sql = b"SELECT device, log, seq, line FROM lines WHERE line IS NOT NULL ORDER BY device, log, seq"
        for device, log, seq, line in connection.execute(sql):
            found.setdefault((device, log), []).append((seq, bytes(line)))
        aside = connection.execute(b"SELECT device, log, epoch, seq, at, why, line FROM aside").fetchall()
    return found, aside


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[list[Companion], Broker, PostgresServer]]:
    """The workers, with folders of their own as on machines of their own, and what they share."""
    if not (get_mosquitto.usable() and binaries()):
        pytest.skip("there is no mosquitto or PostgreSQL for this machine")
    with contextlib.ExitStack() as stack:
        postgres = stack.enter_context(PostgresServer({"fsync": "off"}))
        broker = stack.enter_context(Broker())
        homes = [tmp_path / f"machine{number}" for number in range(WORKERS)]
        workers = [Companion(home, mqtt_url=broker.url, ENGRAM_STORE_URL=postgres.url) for home in homes]
        for worker in workers:
            worker.begin()  # all at once: one of them makes the tables
            stack.callback(worker.__exit__)
        for worker in workers:
            wait_until("the worker is ready", worker.is_ready)
        yield workers, broker, postgres


@pytest.mark.soak
def test_nothing_is_lost_or_doubled_or_found_again_while_workers_broker_and_database_are_killed(
    servers: tuple[list[Companion], Broker, PostgresServer],
):
    workers, broker, postgres = servers

    async def play() -> tuple[list[Talking], Searches]:
        async with contextlib.AsyncExitStack() as stack:
            hubs = [await stack.enter_async_context(Hub(broker.url)) for _ in range(0, BOARDS, BOARDS_OF_HUB)]
            boards = [Talking(hubs[number // BOARDS_OF_HUB], f"b{number}") for number in range(BOARDS)]
            outages = Outages()
            kills = Kills(boards, workers, broker, postgres, outages)
            searches = Searches(boards, [worker.url for worker in workers], outages)

            turns = asyncio.Semaphore(TALKING)

            async def talk(board: Talking) -> None:
                for number in itertools.count():
                    async with turns:
                        if number >= ROUNDS and kills.is_over:
                            return
                        await board.play_round()

            async with asyncio.TaskGroup() as group:
                group.create_task(kills.run())
                talks = [group.create_task(talk(board)) for board in boards]
                for _ in range(SEARCHERS):
                    group.create_task(searches.run(lambda: all(task.done() for task in talks)))
            return boards, searches

    boards, searches = asyncio.run(play())
    stored, aside = _stored(postgres.url)
    wanted = {(board.device, log): board.lines[log] for board in boards for log in ("records", "journal")}
    assert stored == wanted
    assert (searches.found_forgotten, searches.missed, aside) == ([], [], [])
    assert searches.answered >= searches.asked * ANSWERED, (searches.answered, searches.asked)
    assert searches.answered > SEARCHERS * KILLS
