"""A search of many boards: it covers all of them, ranks as a search of few does, pages, and says how far it has come."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
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
from engram_host.companion.search import engine, fleet
from engram_host.companion.search.fleet import FleetProgress
from engram_host.companion.search.indexes.cache import IndexCache
from engram_host.companion.search.request import SearchRequest, SearchResult
from engram_host.companion.search_service import SearchService
from engram_host.companion.settings import EmbeddingSettings, SearchSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Device, Hello, LineBatch, LogName, LogState, Sender, SeqRange
from engram_host.companion.workers.homes import HomeWorkers
from one_case import in_one_case
from search_store import NOW, SearchStore, asked, embed_all, record, search_with, turn

PLACES = ["garden", "shed", "shop", "sea", "roof", "cellar", "kitchen"]
BOARDS = 40
QUERY = "the boiler and the garden"
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


def paged(store: SearchStore, **options: Any) -> Callable[[int, int], list[tuple[str, str]]]:
    """What gives the hits of a page, by (limit, offset)."""
    engine = search_with(store, IndexCache(store))
    boards = [store.device(name) for name in names()]

    def page(limit: int, offset: int) -> list[tuple[str, str]]:
        asking = request(QUERY, limit=limit, offset=offset, **options)
        return places(engine.search_fleet(asking, boards, FleetProgress()))

    return page


def places(result: SearchResult) -> list[tuple[str, str]]:
    return [(hit.device, hit.id) for hit in result.hits]


@in_one_case("query", QUERIES)
@in_one_case("options", [{}, {"use_words": False}, {"use_meaning": False}, {"log": "journal"}])
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
    monkeypatch.setattr(engine, "DEPTHS", (1, 1000))
    few = of_fleet(store, request("the boiler in the cellar", limit=1, use_meaning=False))
    monkeypatch.setattr(engine, "DEPTHS", (BOARDS, 1000))
    every = of_fleet(store, request("the boiler in the cellar", limit=1, use_meaning=False))
    assert few.entries == every.entries and few.hits[0].coverage == every.hits[0].coverage


@in_one_case("options", [{}, {"use_meaning": False}])
def test_pages_of_more_boards_than_are_ranked_first_are_one_list(store: SearchStore, options: dict[str, Any]):
    page = paged(store, **options)
    assert engine.DEPTHS[0] < BOARDS
    pages = [place for at in range(0, 100, 10) for place in page(10, at)]
    assert pages == page(100, 0) and len(set(pages)) == 100


def test_pages_beyond_each_depth_are_one_list(store: SearchStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(engine, "DEPTHS", (3, 12, 45, 1000))
    page = paged(store)
    pages = [place for at in range(0, 200, 20) for place in page(20, at)]
    assert pages == page(100, 0) + page(100, 100) and len(set(pages)) == 200


def test_an_explanation_adds_up_whichever_group_a_board_is_ranked_in(
    store: SearchStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fleet, "MOST_LINES", 4)
    engine = search_with(store, IndexCache(store))
    boards = [replace(store.device(name), have={"journal": 1}) for name in names()]
    found = engine.search_fleet(request(QUERY, limit=20, explain=True), boards, FleetProgress())
    assert len({hit.device for hit in found.hits}) > 4
    assert [hit.explanation.points if hit.explanation else 0 for hit in found.hits] == pytest.approx(
        [hit.score for hit in found.hits]
    )


@pytest.fixture
def equal_boards(monkeypatch: pytest.MonkeyPatch) -> tuple[SearchStore, list[Device]]:
    """Boards that say the same, whose lines have room in groups of two boards only."""
    made = SearchStore()
    for number in range(10):
        made.put_all(f"board-{number}", [turn(1, "the boiler is broken", at=NOW - number), turn(2, "tea and cake")])
        embed_all(made, f"board-{number}")
    monkeypatch.setattr(fleet, "MOST_LINES", 400_000)
    return made, [replace(made.device(f"board-{number}"), have={"journal": 150_000}) for number in range(10)]


@in_one_case("options", [{}, {"use_meaning": False}, {"use_words": False}])
def test_boards_whose_lines_have_no_room_together_are_all_ranked_on_one_scale(
    equal_boards: tuple[SearchStore, list[Device]], options: dict[str, Any]
):
    made, boards = equal_boards
    engine = search_with(made, IndexCache(made))
    found = engine.search_fleet(asked("boiler", "board-0", limit=10, **options), boards, FleetProgress())
    assert [hit.device for hit in found.hits] == [board.name for board in boards]
    assert len({hit.score for hit in found.hits}) == 1


class StopsAfterScan(FleetProgress):
    """Stops once all boards were looked through, before they are ranked."""

    @property
    def is_stopped(self) -> bool:
        return self.searched == self.total


def test_boards_that_are_not_ranked_when_a_search_is_stopped_count_as_not_searched(
    equal_boards: tuple[SearchStore, list[Device]],
):
    made, boards = equal_boards
    engine = search_with(made, IndexCache(made))
    found = engine.search_fleet(asked("boiler", "board-0", limit=10), boards, StopsAfterScan())
    assert [hit.device for hit in found.hits if "boiler" in hit.text] == ["board-0", "board-1"]
    assert (found.boards_searched, found.boards) == (2, 10)
    assert "8 boards were not searched" in found.left_out[-1]


def test_a_word_that_no_board_has_is_named(store: SearchStore):
    found = of_fleet(store, request("zeppelin", use_meaning=False))
    assert "zeppelin" in found.why_empty


def test_maximal_marginal_relevance_chooses_among_all_groups(equal_boards: tuple[SearchStore, list[Device]]):
    made, boards = equal_boards
    engine = search_with(made, IndexCache(made))
    found = engine.search_fleet(asked("boiler", "board-0", limit=2, mmr=0.1), boards, FleetProgress())
    assert {hit.text for hit in found.hits} == {"the boiler is broken", "tea and cake"}


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


@in_one_case("is_late", [False, True])
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


def test_only_the_best_summaries_of_very_many_boards_stay(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fleet, "DEPTHS", (2,))
    monkeypatch.setattr(fleet, "_MOST_SUMMARIES", 6)
    made = SearchStore()
    for number in range(30):
        text = "the boiler" if number in (3, 17) else "tea " + "and cake " * 20
        made.put_all(f"b{number}", [turn(1, text)])
    scan = fleet.FleetScan(request("boiler tea"), ["boiler", "tea"], None)
    boards = [made.device(f"b{number}") for number in range(30)]
    cache, progress = IndexCache(made), CountsSummaries(scan)
    scan.run(boards, lambda device: cache.get_known(device, None), progress)
    assert progress.most == 6
    assert [device.name for device in scan.findings(0.0).by_words] == ["b3", "b17"]


class CountsSummaries(FleetProgress):
    """Looks how many summaries there are before each board."""

    def __init__(self, scan: fleet.FleetScan):
        super().__init__()
        self.most = 0
        self._scan = scan

    @property
    def is_stopped(self) -> bool:
        self.most = max(self.most, len(self._scan._found))
        return False


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


@pytest.mark.both_databases
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
    monkeypatch.setattr(fleet, "MOST_LINES", 3)
    found = asyncio.run(service.search(OWNER, query="kettle", devices=("a", "b", "c")))
    assert {hit.device for hit in found.hits} == {"a", "b", "c"} and found.left_out == ()
    assert (found.boards_searched, found.boards) == (3, 3)


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
