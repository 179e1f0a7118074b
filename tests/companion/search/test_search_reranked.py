"""Searches of a real companion that a service reranks, and what they say when it fails."""

from collections.abc import Iterator
from typing import Any

import pytest

from markdown_folders import write
from peers import Companion
from rerank_service import KEY, MODEL, RerankService
from sending import Sent
from waiting import wait_until

LINES = ("the kettle is in the kitchen", "the kettle is broken", "the kettle is green and makes tea")


@pytest.fixture(scope="module")
def service() -> Iterator[RerankService]:
    with RerankService("green", "tea") as running:
        yield running


@pytest.fixture(scope="module")
def companion(service: RerankService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companion]:
    variables = {"ENGRAM_RERANK_BASE_URL": service.url, "ENGRAM_RERANK_API_KEY": KEY, "ENGRAM_MEANING": "false"}
    variables |= {"ENGRAM_RERANK_MODEL_NAME": MODEL, "ENGRAM_RERANK_COOLDOWN_SECONDS": "1"}
    variables |= {"ENGRAM_RERANK_TIMEOUT_SECONDS": "60"}
    home = tmp_path_factory.mktemp("companion")
    write(home, {"notes/pot.md": "# Kettle\n\nThe kettle of the garden is green, for tea."})
    with (home / "companion.toml").open("a") as file:
        file.write('[bridges.irc]\nnetwork = "irc"\nserver = "irc.invalid:6697"\n')
    with Companion(home, ENGRAM_FOLDERS=str(home / "notes"), **variables) as running:
        one = Sent(running.posted, "kitchen")
        for line in LINES:
            one.keep(line)
        one.sync()
        yield running


def search(companion: Companion, query: str, **more: Any) -> dict[str, Any]:
    answer = companion.client.post("/v1/search", json={"query": query, "devices": ["kitchen"], **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.fixture(autouse=True)
def _well(service: RerankService, companion: Companion) -> Iterator[None]:
    """After each test the service is asked again."""
    yield
    service.faults.clear()
    wait_until("the cool-down is over", lambda: not search(companion, "kettle broken")["degraded"])


def test_the_service_decides_the_order(companion):
    assert search(companion, "kettle broken", folders=False)["hits"][0]["text"] == LINES[2]


def test_the_limit_is_cut_after_reranking(companion):
    answer = search(companion, "kettle broken", limit=1, folders=False)
    assert [hit["text"] for hit in answer["hits"]] == [LINES[2]]
    assert answer["left_out"] == ["2 more candidates, with lower scores"]


def test_an_explanation_names_the_rerankers_score(companion):
    hits = search(companion, "kettle broken", explain=True, folders=False)["hits"]
    assert [hit["explanation"]["rerank"] for hit in hits] == [1.0, 0.0, 0.0]


def test_with_mmr_it_orders_what_was_chosen(companion, service):
    search(companion, "kettle broken", limit=2, mmr=0.7, folders=False)
    assert len(service.requests[-1]["documents"]) == 2


def test_a_failure_leaves_the_searchs_own_order_and_says_so(companion, service):
    service.faults.append(500)
    answer = search(companion, "kettle broken", limit=1, folders=False)
    assert [hit["text"] for hit in answer["hits"]] == [LINES[1]]
    assert "not reranked: 127.0.0.1 answered 500" in answer["degraded"]


def test_health_tells_a_failure(companion, service):
    service.faults.append(500)
    search(companion, "kettle broken")
    problems = companion.client.get("/v1/health").json()["problems"]
    assert any(problem.startswith("searches are not reranked: ") for problem in problems)


def test_a_metric_counts_failures(companion, service):
    name = 'engram_search_step_failures_total{step="rerank"}'

    def count() -> float:
        lines = companion.client.get("/metrics").text.splitlines()
        return next(float(line.split()[-1]) for line in lines if line.startswith(name))

    before = count()
    service.faults.append(500)
    search(companion, "kettle broken")
    assert count() == before + 1


def test_a_board_gets_the_services_order_with_falling_scores(companion):
    who = {"principal": "owner", "group": False, "workspace": "", "tags": [], "since": 0, "until": 0, "folders": False}
    board = Sent(companion.posted, "kitchen")
    board.link = 9

    def is_in_its_order() -> bool:
        # A board waits for a moment only, so a service that is late is left out, and for the cool-down left alone.
        found = board.ask("search", query="kettle broken", limit=3, **who)
        scores = [item[1] for item in found["items"]]
        assert scores == sorted(scores, reverse=True)
        return found["items"][0][0] == "m3"

    wait_until("the service is in time", is_in_its_order)


def test_a_passage_is_sent_with_its_heading_and_cited(companion, service):
    def is_cited() -> bool:
        hits = search(companion, "kettle garden", devices=[])["hits"]
        return any(hit["citation"] == "notes/pot.md#3" for hit in hits)

    wait_until("the folder is read", is_cited)
    assert any(text.startswith("Kettle\n") for text in service.requests[-1]["documents"])
