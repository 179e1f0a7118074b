"""A reranker: a service that scores the best results against the query.

It speaks the API of Cohere, Jina and many local servers: POST {base_url}/rerank.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engram_host.companion.errors import RerankerError
from engram_host.companion.search.cooldown import Cooldown
from engram_host.companion.search.request import Hit
from engram_host.companion.settings import RERANK_TABLE, RerankSettings

if TYPE_CHECKING:  # httpx is loaded only if there is a reranker
    from engram_host.companion.remote_service import RemoteService

MOST_AT_ONCE = 8

_CONNECT_SECONDS = 3.0


def make_reranker(settings: RerankSettings) -> "Reranker | None":
    """Return a reranker, or None if the settings name no service; no request is sent."""
    if not settings.base_url:
        return None
    from engram_host.companion.remote_service import RemoteService, ServiceErrors

    headers = {"Authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
    errors = ServiceErrors(RERANK_TABLE, RerankerError, RerankerError, "; a smaller rerank.candidates may help")
    service = RemoteService(
        settings.base_url,
        headers,
        errors,
        retries=0,
        timeout_seconds=settings.timeout_seconds,
        connect_seconds=min(_CONNECT_SECONDS, settings.timeout_seconds),
    )
    return Reranker(service, settings, Cooldown(settings.cooldown_seconds))


class Reranker:
    def __init__(self, service: "RemoteService", settings: RerankSettings, cooldown: Cooldown):
        self._service = service
        self._settings = settings
        self._cooldown = cooldown
        self._room = asyncio.Semaphore(MOST_AT_ONCE)

    @property
    def candidates(self) -> int:
        return self._settings.candidates

    @property
    def longest_seconds(self) -> float:
        return self._settings.timeout_seconds

    @property
    def problem(self) -> str:
        problem = self._cooldown.problem
        return problem and f"searches are not reranked: {problem}"

    async def rerank(self, query: str, hits: Sequence[Hit], seconds: float) -> tuple[Hit, ...]:
        if len(hits) < 2:
            return tuple(hits)
        seconds = min(seconds, self._settings.timeout_seconds)
        if self._cooldown.is_resting(seconds):
            raise RerankerError(self._cooldown.problem)
        head, tail = hits[: self.candidates], hits[self.candidates :]
        try:
            scores = await self._ask(query, [self._document(hit) for hit in head], seconds)
        except TimeoutError:
            problem = f"{self._service.name} did not answer within {seconds:.2g} s."
            self._cooldown.note_failure(problem, seconds)
            raise RerankerError(problem) from None
        except RerankerError as error:
            self._cooldown.note_failure(str(error))
            raise
        self._cooldown.note_success()
        named = sorted(scores, key=lambda place: (-scores[place], place))
        unnamed = [place for place in range(len(head)) if place not in scores]
        return (*(_with_score(head[place], scores[place]) for place in named), *(head[i] for i in unnamed), *tail)

    async def stop(self) -> None:
        await self._service.close()

    def _document(self, hit: Hit) -> str:
        text = (hit.document or hit.text)[: self._settings.characters]
        # Lone surrogates cannot be sent, and services refuse empty texts.
        return text.encode("utf-8", "replace").decode() or " "

    async def _ask(self, query: str, documents: list[str], seconds: float) -> dict[int, float]:
        body: dict[str, Any] = {"query": query.encode("utf-8", "replace").decode(), "documents": documents}
        if self._settings.model_name:
            body["model"] = self._settings.model_name
        async with asyncio.timeout(seconds), self._room:
            answer = await self._service.post("/rerank", body | {"top_n": len(documents)})
        try:
            return _parse_scores(answer, len(documents))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            why = str(error) if type(error) is ValueError else "its answer has no list `results` of indexes and scores"
            raise RerankerError(f"{self._service.name} answered nonsense: {why}; is rerank.base_url right?") from None


def _parse_scores(answer: Any, count: int) -> dict[int, float]:
    scores: dict[int, float] = {}
    for item in answer["results"]:
        index = item["index"]
        score = item["relevance_score"] if "relevance_score" in item else item["score"]
        if type(index) is not int or not 0 <= index < count:
            raise ValueError("it names a text that it was not given")
        if index in scores:
            raise ValueError("it names a text twice")
        if type(score) not in (int, float) or not math.isfinite(score):
            raise ValueError("a score is no number")
        scores[index] = float(score)
    return scores


def _with_score(hit: Hit, score: float) -> Hit:
    return replace(hit, explanation=replace(hit.explanation, rerank=score)) if hit.explanation else hit
