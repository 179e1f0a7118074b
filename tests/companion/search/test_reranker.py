"""The reranker's client against a service that checks each request and fails in all the ways that services do."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from engram_host.companion.errors import RerankerError
from engram_host.companion.remote_service import RemoteService, ServiceErrors
from engram_host.companion.search.cooldown import Cooldown
from engram_host.companion.search.request import Explanation, Hit
from engram_host.companion.search.reranker import Reranker, make_reranker
from engram_host.companion.settings import RerankSettings
from one_case import in_one_case
from rerank_service import KEY, MODEL, RerankService
from waiting import SECONDS, wait_until

WAIT = 0.4
"""Seconds: less than a slow answer takes."""


class Clock:
    """A clock that goes only when it is set."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def peer() -> Iterator[RerankService]:
    with RerankService("tea", "green") as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


def reranker(peer: RerankService, clock: Clock | None = None, key: str = KEY, **more: Any) -> Reranker:
    more = {"timeout_seconds": SECONDS, **more}
    settings = RerankSettings(base_url=peer.url, api_key=key, model_name=MODEL, cooldown_seconds=30, **more)
    errors = ServiceErrors("rerank", RerankerError, RerankerError)
    service = RemoteService(peer.url, {"Authorization": f"Bearer {key}"}, errors, retries=0)
    return Reranker(service, settings, Cooldown(settings.cooldown_seconds, clock or Clock()))


EXPLAINED = Explanation((), (), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, None)


def hit(text: str, number: int = 0) -> Hit:
    return Hit("b", f"m{number}", number, 0, "", text, explanation=EXPLAINED)


TEXTS = ("soup", "black tea", "green tea", "bread")


def order(one: Reranker, texts=TEXTS, seconds: float = SECONDS, query: str = "which tea") -> list[str]:
    return [found.text for found in reranked(one, texts, seconds, query)]


def reranked(one: Reranker, texts=TEXTS, seconds: float = SECONDS, query: str = "which tea") -> tuple[Hit, ...]:
    async def ask() -> tuple[Hit, ...]:
        try:
            return await one.rerank(query, [hit(text, number) for number, text in enumerate(texts)], seconds)
        finally:
            await one.stop()

    return asyncio.run(ask())


def test_hits_stand_in_the_order_of_the_services_scores(peer):
    assert order(reranker(peer)) == ["green tea", "black tea", "soup", "bread"]


def test_the_name_score_is_taken_too(peer):
    peer.score_name = "score"
    assert order(reranker(peer))[0] == "green tea"


def test_only_the_best_candidates_are_sent_and_change_places(peer):
    assert order(reranker(peer, candidates=2)) == ["black tea", "soup", "green tea", "bread"]
    assert peer.requests[0]["documents"] == ["soup", "black tea"]


def test_what_the_service_does_not_name_keeps_its_order_behind(peer):
    peer.faults.append([{"index": 2, "relevance_score": 0.1}])
    assert order(reranker(peer)) == ["green tea", "soup", "black tea", "bread"]


def test_equal_scores_keep_their_order(peer):
    peer.faults.append([{"index": index, "relevance_score": 0.5} for index in (3, 1, 0, 2)])
    assert order(reranker(peer)) == list(TEXTS)


def test_scores_may_be_negative(peer):
    peer.faults.append([{"index": index, "score": -index} for index in range(4)])
    assert order(reranker(peer)) == list(TEXTS)


def test_no_more_than_the_configured_characters_of_a_text_are_sent(peer):
    order(reranker(peer, characters=100), ["x" * 101, "y"])
    assert peer.requests[0]["documents"] == ["x" * 100, "y"]


def test_the_text_that_is_embedded_is_sent_where_there_is_one(peer):
    one = reranker(peer)
    hits = [Hit("b", "t1", 1, 0, "ann", "yes", document="[7 May 2023] ann: yes"), hit("soup")]

    async def ask():
        await one.rerank("q", hits, SECONDS)
        await one.stop()

    asyncio.run(ask())
    assert peer.requests[0]["documents"] == ["[7 May 2023] ann: yes", "soup"]


def test_half_characters_and_empty_texts_can_be_sent(peer):
    assert len(order(reranker(peer), ["\ud800", "", "tea"], query="q\udfff")) == 3


def test_one_hit_is_no_request(peer):
    assert order(reranker(peer), ["soup"]) == ["soup"] and not peer.requests


def test_an_explanation_names_the_score_and_the_points_stay(peer):
    found = reranked(reranker(peer))[0].explanation
    assert found and (found.rerank, found.points) == (1.0, 0.0)


BAD_RESULTS = {
    "an index beyond the texts": [{"index": 4, "relevance_score": 1}],
    "a negative index": [{"index": -1, "relevance_score": 1}],
    "an index that is no number": [{"index": "0", "relevance_score": 1}],
    "an index that is a truth value": [{"index": True, "relevance_score": 1}],
    "an index twice": [{"index": 1, "relevance_score": 1}, {"index": 1, "relevance_score": 2}],
    "NaN": [{"index": 1, "relevance_score": float("nan")}],
    "infinity": [{"index": 1, "relevance_score": float("inf")}],
    "a number beyond any float": [{"index": 1, "relevance_score": 10**400}],
    "a score that is no number": [{"index": 1, "relevance_score": "0.5"}],
    "no score": [{"index": 1}],
    "results that are no objects": [1, 2],
    "no results": {"data": []},
    "results that are null": {"results": None},
}


@in_one_case("name", sorted(BAD_RESULTS))
def test_nonsense_is_refused_whole(peer, name):
    peer.faults.append(BAD_RESULTS[name])
    with pytest.raises(RerankerError, match="answered nonsense"):
        order(reranker(peer))


@in_one_case("fault", [301, 400, 401, 404, 429, 500, "words"])
def test_a_failure_is_an_error_without_the_key_and_without_a_second_attempt(peer, fault):
    before = len(peer.requests)
    peer.faults.append(fault)
    with pytest.raises(RerankerError) as caught:
        order(reranker(peer))
    assert KEY not in str(caught.value) and len(peer.requests) == before + 1


def test_a_wrong_key_names_the_setting(peer):
    with pytest.raises(RerankerError, match=r"Check rerank\.api_key"):
        order(reranker(peer, key="rk-mistyped"))


def test_a_late_answer_is_an_error(peer):
    peer.faults.append("slow")
    with pytest.raises(RerankerError, match="did not answer within"):
        order(reranker(peer), seconds=WAIT)


def test_the_timeout_of_the_settings_bounds_every_wait(peer):
    peer.faults.append("slow")
    with pytest.raises(RerankerError, match="did not answer within"):
        order(reranker(peer, timeout_seconds=WAIT), seconds=60)


def test_a_service_that_failed_is_left_alone_for_the_cool_down(peer, clock):
    one = reranker(peer, clock)
    peer.faults.append(500)
    for _ in range(3):
        with pytest.raises(RerankerError, match="500"):
            order(one)
    assert len(peer.requests) == 1


def test_it_is_asked_again_after_the_cool_down(peer, clock):
    one = reranker(peer, clock)
    peer.faults.append(500)
    with pytest.raises(RerankerError):
        order(one)
    clock.now += 31
    assert order(one)[0] == "green tea"


def test_one_that_was_late_for_a_board_is_asked_for_who_can_wait_longer(peer, clock):
    one = reranker(peer, clock)
    peer.faults.append("slow")
    with pytest.raises(RerankerError):
        order(one, seconds=WAIT)
    assert order(one)[0] == "green tea"


def test_one_that_was_late_for_a_board_is_left_alone_by_boards(peer, clock):
    one = reranker(peer, clock)
    peer.faults.append("slow")
    for _ in range(2):
        with pytest.raises(RerankerError):
            order(one, seconds=WAIT)
    wait_until("the service has heard of the first one", lambda: peer.requests)
    assert len(peer.requests) == 1


def test_the_problem_is_told_until_it_works_again(peer, clock):
    one = reranker(peer, clock)
    peer.faults.append(500)
    with pytest.raises(RerankerError):
        order(one)
    assert one.problem.startswith("searches are not reranked: ")
    clock.now += 31
    order(one)
    assert one.problem == ""


def test_there_is_no_reranker_without_a_url():
    assert make_reranker(RerankSettings(api_key=KEY)) is None
