"""Searches with other wordings of the query: what they find, and a real companion that asks its gateway's model for them."""

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from device_tokens import make_tokens
from engram_host.companion.errors import SettingError
from engram_host.companion.gateway.quota import OPERATOR
from engram_host.companion.settings import read_settings
from engram_host.companion.store import open_store
from extent import with_more
from fake_llm import Serving, serving
from one_case import in_one_case
from peers import Companion
from search_store import SearchStore, asked, engine_of, ids, record
from sending import Sent

LINES = ("Ann likes sencha", "the boat is in the harbour", "Ann has a bicycle")


@pytest.fixture
def store() -> SearchStore:
    store = SearchStore()
    store.put_all("b", records=[record(number, line) for number, line in enumerate(LINES, start=1)])
    return store


def test_other_wordings_find_what_the_query_does_not(store):
    engine = engine_of(store)
    assert ids(engine.search(asked("preferred beverage"))) == []
    assert ids(engine.search(asked("preferred beverage", wordings=("sencha tea",)))) == ["m1"]


def test_their_words_count_less_than_the_querys(store):
    result = engine_of(store).search(asked("harbour", wordings=("sencha",)))
    assert ids(result) == ["m2", "m1"]


def test_the_points_add_up_to_the_score(store):
    result = engine_of(store).search(asked("Ann bicycle", wordings=("sencha",), explain=True))
    points = [(hit.explanation.points, hit.explanation.expansion) for hit in result.hits if hit.explanation]
    assert [all_of_it for all_of_it, _ in points] == pytest.approx([hit.score for hit in result.hits], abs=1e-8)
    assert [expansion > 0 for _, expansion in points] == [False, True]


@in_one_case("query", ["harbour", "zebra"])
def test_the_confidence_is_that_of_the_query_alone(store, query):
    engine = engine_of(store)
    with_them = engine.search(asked(query, wordings=("sencha",)))
    assert with_them.confidence == engine.search(asked(query)).confidence


def test_the_least_share_of_words_holds_for_the_querys_own(store):
    result = engine_of(store).search(asked("zebra", wordings=("sencha",), min_words=0.1))
    assert ids(result) == []


def test_wordings_without_new_words_change_nothing(store):
    engine = engine_of(store)
    assert engine.search(asked("Ann sencha", wordings=("sencha Ann",))).hits == engine.search(asked("Ann sencha")).hits


def test_they_find_nothing_that_the_caller_may_not_see(store):
    store.put("b", "records", 9, record(9, "sencha is hidden", scope="user:bob"))
    assert ids(engine_of(store).search(asked("beverage", wordings=("sencha",)))) == ["m1"]


# --- a companion


@pytest.fixture(scope="module")
def model() -> Iterator[Serving]:
    with serving() as running:
        running.add({"when": {"equals": "favourite beverage"}, "reply": '["sencha tea"]'}, first=True)
        running.add({"when": {"equals": "favourite vessel"}, "reply": "I cannot help with that."}, first=True)
        yield running


@pytest.fixture(scope="module", params=with_more(["openai"], ["anthropic"]))
def companion(
    request: pytest.FixtureRequest, model: Serving, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Companion]:
    variables = {"ENGRAM_GATEWAY_URL": model.url + "/v1", "ENGRAM_GATEWAY_KEY": "sk-0123456789abcdef-key"}
    variables |= {"ENGRAM_GATEWAY_MODEL": "m", "ENGRAM_SEARCH_EXPAND": "true", "ENGRAM_MEANING": "false"}
    variables |= {"ENGRAM_GATEWAY_API": request.param, "ENGRAM_SEARCH_EXPAND_SECONDS": "60"}
    home = tmp_path_factory.mktemp("companion") / "home"
    with Companion(home, **variables) as running:
        one = Sent(running.posted, "kitchen")
        for line in LINES:
            one.keep(line)
        one.sync()
        yield running


def search(companion: Companion, query: str, **more: Any) -> dict[str, Any]:
    answer = companion.client.post("/v1/search", json={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def calls(companion: Companion) -> int:
    store = open_store(f"sqlite:///{companion.home}/companion.db")
    today = int(time.time()) // 86400
    # Midnight may pass between two calls.
    used = [store.gateway.gateway_used(day).get(OPERATOR) for day in (today - 1, today)]
    store.close()
    return sum(use.calls for use in used if use)


def test_the_gateways_model_is_asked_and_counted_once_for_a_query(companion):
    before = calls(companion)
    for _ in range(2):
        answer = search(companion, "favourite beverage")
        assert [hit["text"] for hit in answer["hits"]] == [LINES[0]]
        assert (answer["wordings"], answer["degraded"]) == (["sencha tea"], "")
    assert calls(companion) == before + 1


def test_a_request_can_leave_them_out(companion):
    answer = search(companion, "favourite beverage", expand=False)
    assert (answer["hits"], answer["wordings"]) == ([], [])


def test_a_board_is_answered_without_them(companion):
    who = {"principal": "owner", "group": False, "workspace": "", "tags": [], "since": 0, "until": 0, "folders": False}
    board = Sent(companion.posted, "kitchen")
    board.link = 9
    found = board.ask("search", query="favourite beverage", limit=3, **who)
    assert (found["items"], found["note"]) == ([], "")


def test_a_boards_token_costs_no_call_of_the_model(companion):
    before = calls(companion)
    headers = {"Authorization": f"Bearer {make_tokens(companion.home, 'kitchen')['kitchen']}"}
    answer = httpx.post(f"{companion.url}/v1/search", json={"query": "beverages of Ann"}, headers=headers)
    assert (answer.status_code, answer.json()["wordings"], calls(companion)) == (200, [], before)


def test_a_failure_leaves_the_plain_query_and_says_so(companion):
    answer = search(companion, "favourite vessel")
    assert answer["wordings"] == [] and "searched without other wordings: the model answered" in answer["degraded"]
    problems = companion.client.get("/v1/health").json()["problems"]
    assert any(problem.startswith("queries are not expanded: ") for problem in problems)


@in_one_case(
    "variables, named",
    [
        ({}, "gateway.url"),
        ({"ENGRAM_GATEWAY_URL": "http://localhost:1/v1"}, "search.expand_model or gateway.model"),
    ],
)
def test_it_cannot_be_switched_on_without_a_model(tmp_path, variables, named):
    with pytest.raises(SettingError, match=named):
        read_settings(tmp_path, {}, {"ENGRAM_SEARCH_EXPAND": "true", **variables})
