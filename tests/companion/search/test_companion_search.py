"""Searches over HTTP and of boards, on a real companion."""

import asyncio
import json
from typing import Any

import pytest

from companion_store import embedding_of, opened_store, search_of
from engram.link import messages
from engram_host.companion.errors import BadSearch, SettingError, StoreUnavailable
from engram_host.companion.search.engine import SearchEngine
from engram_host.companion.search.request import MOST_DEVICES, SearchRequest, SearchResult
from engram_host.companion.settings import SearchSettings
from engram_host.companion.settings_reader import read_section
from engram_host.companion.types import Hello, LineBatch, LogName, LogState, Sender, SeqRange
from one_case import in_one_case
from peers import Companion
from sending import Sent
from waiting import wait_until, wait_until_async

OWNER = {"principal": "owner", "group": False, "workspace": "", "tags": [], "since": 0, "until": 0, "folders": False}


def _ask(board, query, limit=10, **more):
    return board.ask("search", query=query, limit=limit, **(OWNER | more))


def _found(companion, **question):
    answer = companion.client.post("/v1/search", json=question)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_what_was_forwarded_is_found_with_who_wrote_it(companion, board):
    one = board()
    one.say("the violin lesson is on Tuesday", forwarded="Xaver", quoted="when is it?")
    one.sync()
    for query in ("violin", "Xaver"):
        (hit,) = _found(companion, query=query, devices=[one.device])["hits"]
        assert hit["text"] == "forwarded from Xaver: (in reply to: when is it?)\nthe violin lesson is on Tuesday"
        assert _ask(one, query)["op"] == "found"


def test_an_event_is_found_by_its_people_and_its_own_day(companion, board):
    one = board()
    for month, who in ((4, "Carla"), (5, "Carla"), (5, "Bob")):
        one.keep("Lunch", type="event", people=[who], where="harbour", when=1775900000 + (month - 4) * 2592000)
    one.sync()
    hit, *_ = _found(companion, query="with Carla in May 2026", devices=[one.device])["hits"]
    assert (hit["id"], hit["at"]) == ("m2", 1778492000)
    assert "Bob" in companion.client.get(f"/boards/{one.device}/memories/m3").text


def test_what_was_forgotten_is_found_no_more(companion, board):
    one = board()
    one.keep("the door code is 4711")
    one.sync()
    one.write("records", op="forget", id="m1", at=1795247200, was=1)
    one.sync()
    answer = _found(companion, query="door code", devices=[one.device])
    assert answer["hits"] == [] and answer["why_empty"]


def test_nobody_finds_what_another_said_in_private(companion, board):
    one = board()
    one.keep("the surprise party is on Friday", scope="user:ann")
    one.sync()
    question = {"query": "surprise party", "devices": [one.device]}
    assert _found(companion, **question, principal="bob")["hits"] == []
    assert _found(companion, **question, principal="ann", group=True)["hits"] == []
    assert len(_found(companion, **question, principal="ann")["hits"]) == 1


def test_a_search_of_too_many_boards_asks_to_name_some(tmp_path):
    logs: dict[LogName, LogState] = {"records": LogState(7, 1, 1, 0), "journal": LogState(7, 1, 1, 0)}
    with opened_store(tmp_path) as store:
        for number in range(MOST_DEVICES + 1):
            store.replication.greet(Hello(f"b{number}", Sender(f"f{number}", 3, 9), 0, logs), 1)
        embedding = embedding_of(store)
        searching = search_of(store, SearchSettings(), embedding)
        with pytest.raises(BadSearch, match="at most 64 of the 65"):
            asyncio.run(searching.search(SearchRequest(query="tea")))


def test_a_search_over_all_boards_says_which_board_it_was(companion, board):
    names = []
    for place in ("zebrafinch in the hall", "zebrafinch in the attic"):
        one = board()
        one.say(place)
        one.sync()
        names.append(one.device)
    assert {hit["device"] for hit in _found(companion, query="zebrafinch")["hits"]} == set(names)


def test_an_unknown_board_is_not_found(companion):
    answer = companion.client.post("/v1/search", json={"query": "x", "devices": ["nobody"]})
    assert answer.status_code == 404 and "nobody" in answer.json()["problem"]


def test_a_board_is_given_ids_of_what_it_has(board):
    one = board()
    one.say("the violin lesson is on Tuesday")
    one.sync()
    answer = _ask(one, "violin")
    assert answer["op"] == "found" and answer["items"][0][0] == "t1" and len(answer["items"][0]) == 2


def test_a_board_is_given_the_text_of_what_has_left_it(board):
    one = board()
    one.say("the violin lesson is on Tuesday")
    one.say("nothing else")
    one.sync()
    one.link += 1
    one.ask("hello", version=1, zone=0, relied=0, rule="", records=[11, 1, 1, 0], journal=[11, 2, 3, 0])
    answer = _ask(one, "violin", limit=1)
    assert answer["items"][0][0] == "t1" and answer["items"][0][4] == "the violin lesson is on Tuesday"


def test_an_answer_has_as_many_hits_as_a_board_takes(board):
    one = board()
    for number in range(50):
        one.say("violin " + "ゑ" * 990 + f" {number}")
        if number % 10 == 9:
            one.sync()
    one.link += 1
    one.ask("hello", version=1, zone=0, relied=0, rule="", records=[11, 1, 1, 0], journal=[11, 51, 51, 0])
    one.n += 1
    message = messages.encode("search", one.board, one.link, one.n, query="violin", limit=50, **OWNER)
    answer = one.post(one.device, message)
    head, items = messages.decode(answer, messages.TO_BOARD)
    assert 40_000 < len(answer) <= messages.ANSWER_BYTES and len(json.loads(bytes(items))) == len(head["sure"])


def test_a_search_of_a_board_that_was_never_here_is_refused(board):
    answer = _ask(board(), "hello")
    assert answer["op"] == "refused" and answer["why"]


def test_a_principal_that_cannot_be_one_is_refused(board):
    one = board()
    one.say("hello")
    one.sync()
    answer = _ask(one, "hello", principal='a"b')
    assert answer["op"] == "refused" and "who" in answer["why"]


def _filled(store, name, lines, heard):
    """A board of which so many lines are said to be there."""
    states: dict[LogName, LogState] = {"records": LogState(1, 1, 1, 0), "journal": LogState(1, 1, lines + 1, 0)}
    store.replication.greet(Hello(name, Sender(name, 1, 1), 0, states), heard)
    store.replication.store_batches([LineBatch(Sender(name, 1, 2), SeqRange(name, "journal", 1, 0, lines), [])], heard)


@pytest.fixture
def searching(store):
    """Searches over three boards."""
    for heard, name in enumerate(("oldest", "middle", "newest"), start=1):
        _filled(store, name, 4000, heard)
    meaning = embedding_of(store)
    return search_of(store, SearchSettings(index_megabytes=16), meaning)


@in_one_case(
    "table, options, used",
    [
        ({}, {}, (True, True, None)),
        ({"words": False}, {}, (False, True, None)),
        ({"words": False}, {"words": True}, (True, True, None)),
        ({"meaning": False}, {}, (True, False, None)),
        ({"weight": 0.7}, {}, (True, True, 0.7)),
        ({"weight": 0.7}, {"weight": 0.0}, (True, True, 0.0)),
    ],
)
def test_settings_decide_what_a_request_leaves_open(
    tmp_path, monkeypatch, table: dict[str, Any], options: dict[str, Any], used
):
    seen: list[SearchRequest] = []
    monkeypatch.setattr(SearchEngine, "search", lambda self, request, *_: seen.append(request) or SearchResult(()))
    with opened_store(tmp_path) as store:
        _filled(store, "b", 1, 1)
        searching = search_of(store, SearchSettings(**table), embedding_of(store))
        asyncio.run(searching.search(SearchRequest(query="x", **options)))
    assert [(request.words, request.meaning, request.weight) for request in seen] == [used]


def test_the_file_goes_before_the_environment_and_one_side_stays_on():
    environment = {"FTS_ENABLED": "false", "ENGRAM_MEANING_WEIGHT": "0.5"}
    found = read_section(SearchSettings, "search", {"weight": 0.7}, environment)
    assert (found.words, found.meaning, found.weight) == (False, True, 0.7)
    with pytest.raises(SettingError):
        read_section(SearchSettings, "search", {"meaning": False}, environment)


def test_what_is_meant_is_found_though_no_word_is_the_same(tmp_path):
    with Companion(tmp_path / "companion", EMBEDDING_PROVIDER="minilm") as companion:
        one = Sent(companion.posted, "kitchen")
        for line in ("Clara shows me how to hold the bow of the violin", "the boat lies in the harbour", "soup again"):
            one.say(line)
        one.sync()
        wait_until(
            "all lines have vectors", lambda: not _found(companion, query="soup", devices=["kitchen"])["degraded"]
        )
        assert _found(companion, query="music teacher", devices=["kitchen"])["hits"][0]["id"] == "t1"


def test_a_start_makes_indexes_newest_first_while_they_have_room(searching):
    async def start() -> None:
        searching.start()
        await wait_until_async("indexes are made", lambda: len(searching.indexes.board_names) == 3)
        await searching.stop()

    asyncio.run(start())
    assert searching.indexes.board_names == ["newest", "middle", "oldest"]


def test_an_index_that_is_being_made_is_broken_off_when_the_companion_stops(searching):
    asyncio.run(searching.stop())
    with pytest.raises(StoreUnavailable, match="is being stopped"):
        asyncio.run(searching.search(SearchRequest(query="x", devices=["newest"])))
