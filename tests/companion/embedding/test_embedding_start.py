"""An embedder that is still starting is no problem: nobody has to do anything about it."""

import asyncio
from pathlib import Path

import pytest

from companion_store import embedding_of
from engram_host.companion.embedding.local_embedder import LocalEmbedder
from engram_host.companion.errors import EmbedderUnavailable
from engram_host.companion.store import open_store
from waiting import wait_until_async


class Gate:
    """Holds back the first use of the model until it is opened; the model then fails with `error`, if that is set."""

    def __init__(self) -> None:
        self.opened = asyncio.Event()
        self.reached = False
        self.error: EmbedderUnavailable | None = None

    async def ready(self, _model: LocalEmbedder) -> None:
        self.reached = True
        await self.opened.wait()
        if self.error:
            raise self.error


async def _told(folder: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The problem and how it stands: before the start, while the model loads, and then."""
    monkeypatch.setattr(LocalEmbedder, "ready", lambda model: gate.ready(model))
    store = open_store(f"sqlite:///{folder}/companion.db")
    service = embedding_of(store, "minilm")

    def now() -> tuple[str, str]:
        return service.problem, service.status_line()

    found = [now()]
    service.start()
    try:
        await wait_until_async("the model is asked for", lambda: gate.reached)
        found.append(now())
        gate.opened.set()
        await wait_until_async("it is over", lambda: service.identity or service.problem)
        return [*found, now()]
    finally:
        await service.stop()
        store.close()


def test_an_embedder_that_is_starting_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work() -> list[tuple[str, str]]:
        return await _told(tmp_path, Gate(), monkeypatch)

    before, meanwhile, then = asyncio.run(work())
    assert before == meanwhile and before[0] == "" and before[1].startswith("the embedder is starting: ")
    assert then[0] == "" and "starting" not in then[1]


def test_an_embedder_that_fails_to_start_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    async def work() -> list[tuple[str, str]]:
        gate = Gate()
        gate.error = EmbedderUnavailable("the model is not there.")
        return await _told(tmp_path, gate, monkeypatch)

    *_, then = asyncio.run(work())
    assert then[0] == "the model is not there." and then[1].endswith("searches go by words only.")
