"""A search of many boards: it covers all of them, ranks as a search of few does, pages, and says how far it has come."""

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import Request

from engram.memory.access import OWNER
from engram_host.companion import search_service
from engram_host.companion.api.search import SearchQuery, make_search_router
from engram_host.companion.embedding.embedding_service import EmbeddingService
from engram_host.companion.errors import BadSearch
from engram_host.companion.search import fleet
from engram_host.companion.search.fleet import FleetProgress
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.request import SearchRequest, SearchResult
from engram_host.companion.search_service import SearchService
from engram_host.companion.settings import EmbeddingSettings, SearchSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from engram_host.companion.workers.homes import HomeWorkers
from search_store import NOW, SearchStore, asked, embed_all, record, search_with, turn

PLACES = ["garden", "shed", "shop", "sea", "roof", "cellar", "kitchen"]
BOARDS = 40
QUERIES = ["who told any board about the boiler", "the boiler in the cellar", "a new roof", "kitchen and garden"]


@pytest.fixture(scope="module")
def store() -> SearchStore:
    made = SearchStore()
    for number in range(BOARDS):
        name = f"board-{number:02d}"
        journal = [
            turn(
                seq,
                f"the {PLACES[(seq + number) % 7]} and the {PLACES[seq * number % 7]}" + " of it" * (seq % 5),
                f"s{1 + seq // 6}",
                ["ann", "bob"][seq % 2],
                NOW - 1000 * seq - number,
            )
            for seq in range(1, 30)
        ]
        if number % 9 == 4:
            journal.append(turn(30, f"the boiler number {number} is broken again", "s9", "ann", NOW - number))
        made.put_all(name, journal, [record(1, f"{PLACES[number % 7]} {number}", tags=["home"])])
        embed_all(made, name)
    return made


def request(query: str, **options: Any) -> SearchRequest:
    return asked(query, "board-00", **options)


def names() -> list[str]:
    return [f"board-{number:02d}" for number in range(BOARDS)]


def of_fleet(
    store: SearchStore, asking: SearchRequest, progress: FleetProgress | None = None, most_bytes: int = 1 << 30
) -> SearchResult:
    engine = search_with(store, IndexCache(store, most_bytes))
    return engine.search_fleet(asking, [store.device(name) for name in names()], progress or FleetProgress())


def places(result: SearchResult) -> list[tuple[str, str]]:
    return [(hit.device, hit.id) for hit in result.hits]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("options", [{}, {"use_words": False}, {"use_meaning": False}, {"log": "journal"}])
def test_the_first_hits_are_those_of_a_search_that_ranks_all_boards_at_once(
    store: SearchStore, query: str, options: dict[str, Any]
):
    engine = search_with(store, IndexCache(store))
    at_once = engine.search(asked(query, *names(), **options))
    found = of_fleet(store, request(query, **options))
    assert set(places(found)[:5]) <= set(places(at_once)) and set(places(at_once)[:5]) <= set(places(found))


def test_every_board_that_has_a_rare_word_is_found(store: SearchStore):
    found = of_fleet(store, request("who told any board about the boiler", use_meaning=False))
    assert {hit.device for hit in found.hits} >= {f"board-{number:02d}" for number in range(4, BOARDS, 9)}
    assert (found.boards, found.boards_searched) == (BOARDS, BOARDS)


def test_boards_that_do_not_fit_into_memory_together_are_searched(store: SearchStore):
    progress = FleetProgress()
    found = of_fleet(store, request("the boiler"), progress, most_bytes=1)
    assert progress.searched == BOARDS and places(found) == places(of_fleet(store, request("the boiler")))


def test_a_word_weighs_as_in_all_boards_and_not_as_in_those_that_are_ranked(
    store: SearchStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fleet, "MOST_RANKED", 1)
    few = of_fleet(store, request("the boiler in the cellar", limit=1, use_meaning=False))
    monkeypatch.setattr(fleet, "MOST_RANKED", BOARDS)
    every = of_fleet(store, request("the boiler in the cellar", limit=1, use_meaning=False))
    assert few.entries == every.entries and few.hits[0].coverage == every.hits[0].coverage


def test_pages_go_on_where_the_one_before_ended(store: SearchStore):
    whole = places(of_fleet(store, request("the boiler and the garden", limit=30)))
    pages = [of_fleet(store, request("the boiler and the garden", limit=10, offset=at)) for at in (0, 10, 20)]
    assert [place for page in pages for place in places(page)] == whole


def test_pages_and_mmr_exclude_each_other():
    with pytest.raises(BadSearch, match="offset"):
        request("tea", offset=10, mmr=0.5)


class StopsAt(FleetProgress):
    """Stops after some boards."""

    last = 7

    @property
    def is_stopped(self) -> bool:
        return self.searched >= self.last


def test_a_search_that_is_stopped_says_how_far_it_has_come(store: SearchStore):
    found = of_fleet(store, request("the garden"), StopsAt())
    assert (found.boards_searched, found.boards) == (7, BOARDS) and found.hits
    assert f"{BOARDS - 7} boards were not searched" in found.left_out[-1]
    assert {hit.device for hit in found.hits} <= set(names()[:7])


@pytest.mark.parametrize("is_late", [False, True])
def test_a_time_limit_and_whoever_asked_stop_a_search(store: SearchStore, is_late: bool):
    progress = FleetProgress(deadline=time.monotonic() - 1) if is_late else FleetProgress()
    if not is_late:
        progress.stop()
    found = of_fleet(store, request("the garden"), progress)
    assert (found.boards_searched, found.boards, found.hits) == (0, BOARDS, ())


def test_memory_of_a_scan_does_not_grow_with_the_lines_of_boards():
    scan = fleet.FleetScan(request("garden tea"), ["garden", "tea"], None)
    made = SearchStore()
    made.put_all("a", [turn(seq, "the garden") for seq in range(1, 200)])
    scan.run([made.device("a")], lambda device: IndexCache(made).get(device.name, None)[0], FleetProgress())
    (summary,) = scan._found
    assert len(summary.parts) <= 8 + 2


# --- the service


def fill(store: CompanionStore, name: str, heard: int) -> None:
    logs: dict[LogName, LogState] = {"records": LogState(1, 1, 1, 0), "journal": LogState(1, 1, 3, 0)}
    store.greet(Hello(name, Sender(name, 1, 1), 0, logs), heard)
    lines = [(seq, turn(seq, f"the kettle of {name}", at=NOW)) for seq in (1, 2)]
    store.store_batches([LineBatch(Sender(name, 1, 2), SeqRange(name, "journal", 1, 0, 2), lines)], heard)


@pytest.fixture
def service(store_of_boards: CompanionStore, tmp_path: Path) -> SearchService:
    meaning = EmbeddingService(store_of_boards, EmbeddingSettings(provider="none"), Supervisor())
    settings = SearchSettings(index_megabytes=16, meaning=False)
    return SearchService(store_of_boards, settings, meaning, index_folder=tmp_path / "indexes")


@pytest.fixture
def store_of_boards(open_store, monkeypatch: pytest.MonkeyPatch) -> CompanionStore:
    monkeypatch.setattr(search_service, "MOST_TOGETHER", 3)
    store = open_store()
    for heard, name in enumerate(("a", "b", "c", "d", "e"), start=1):
        fill(store, name, heard)
    return store


def test_a_search_without_names_covers_all_boards(service: SearchService):
    found = asyncio.run(service.search(OWNER, query="kettle"))
    assert {hit.device for hit in found.hits} == {"a", "b", "c", "d", "e"} and found.left_out == ()
    assert (found.boards_searched, found.boards) == (5, 5)


def test_the_boards_heard_last_are_searched_first(service: SearchService):
    found = asyncio.run(service.search(OWNER, query="kettle", progress=replace_last(2)))
    assert {hit.device for hit in found.hits} == {"e", "d"}
    assert "3 boards were not searched" in found.left_out[-1]


def replace_last(last: int) -> FleetProgress:
    progress = StopsAt()
    progress.last = last
    return progress


def test_named_boards_of_many_lines_are_searched_one_after_the_other(
    service: SearchService, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(search_service, "MOST_LINES", 3)
    found = asyncio.run(service.search(OWNER, query="kettle", devices=("a", "b")))
    assert {hit.device for hit in found.hits} == {"a", "b"} and found.boards == 2


# --- over HTTP


class Searching:
    """A search that runs until it is stopped."""

    async def search(self, caller: Any, *, progress: FleetProgress, **options: Any) -> SearchResult:
        while not progress.is_stopped:
            await asyncio.sleep(0)
        return SearchResult((), boards=9, boards_searched=4)


def test_a_client_that_closes_the_connection_stops_its_search():
    router = make_search_router(Searching(), None, HomeWorkers(None))  # pyright: ignore[reportArgumentType]
    (route,) = [route for route in router.routes if route.path == "/v1/search"]  # pyright: ignore
    messages = [{"type": "http.request", "body": b"", "more_body": False}, {"type": "http.disconnect"}]

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return messages.pop(0)

    request = Request({"type": "http", "headers": [], "method": "POST", "path": "/v1/search"}, receive)  # pyright: ignore
    caller = SimpleNamespace(device="")
    answer = asyncio.run(route.endpoint(SearchQuery(query="boiler"), caller, request))  # pyright: ignore
    assert (answer.boards_searched, answer.boards) == (4, 9)
