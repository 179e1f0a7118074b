"""Batch jobs: against a service that checks each line of a job, and in the keeper of the index."""

import asyncio
import json

import numpy as np
import pytest

from embedded_board import KEY as KEY_VERSION
from embedded_board import Board, Embedder, make
from embedding_service import KEY, MODEL, WIDTH, EmbeddingService, direction
from engram_host.companion.embedding import batch
from engram_host.companion.embedding.batch import BatchJobs
from engram_host.companion.embedding.remote import ERRORS, OpenAiEmbedder
from engram_host.companion.errors import EmbedderRefused, EmbedderUnavailable
from engram_host.companion.remote_service import RemoteService
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.sqlite import SqliteDatabase
from engram_host.companion.vector_types import Identity
from official_clients import openai
from one_case import in_one_case
from waiting import wait_until_async

TEXTS = [f"text {number}" for number in range(7)]


@pytest.fixture
def peer():
    with EmbeddingService() as running:
        yield running


class Notes(dict):
    """What jobs keep."""

    def get(self, name, default=None):
        return super().get(name, default or "")

    def put(self, name, value):
        self[name] = value


async def no_sleep(seconds):
    await asyncio.sleep(0)


def jobs_of(peer, notes, sleep=no_sleep):
    service = RemoteService(peer.url, {"Authorization": f"Bearer {KEY}"}, ERRORS, sleep=no_sleep)
    return BatchJobs(OpenAiEmbedder(service, MODEL), notes, sleep=sleep)


def embed_many(peer, notes, texts=TEXTS, sleep=no_sleep):
    async def work():
        jobs = jobs_of(peer, notes, sleep)
        try:
            return await jobs.embed_many("work", texts)
        finally:
            await jobs.close()

    return asyncio.run(work())


def assert_are_of(found, texts):
    """The vectors are those of the texts."""
    np.testing.assert_allclose(found, [direction(text) for text in texts], atol=1e-6)


def job_requests(peer):
    return [request for request in peer.requests if "input_file_id" in request]


def test_each_text_gets_its_vector_from_the_job(peer):
    found = embed_many(peer, Notes(), [*TEXTS, TEXTS[0]])
    assert_are_of(found, [*TEXTS, TEXTS[0]])
    assert len(peer.requests) == 1


def test_many_texts_are_several_jobs(peer, monkeypatch):
    monkeypatch.setattr(batch, "MOST_TEXTS", 3)
    found = embed_many(peer, Notes())
    assert_are_of(found, TEXTS)
    assert len(job_requests(peer)) == 3


class KilledError(Exception):
    """Stands for the end of the process."""


async def kill(seconds):
    raise KilledError


def test_after_a_restart_the_job_is_taken_up_again(peer):
    notes = Notes()
    with pytest.raises(KilledError):
        embed_many(peer, notes, sleep=kill)
    found = embed_many(peer, notes, TEXTS[1:])
    assert_are_of(found, TEXTS[1:])
    assert len(job_requests(peer)) == 1
    assert not any(notes.values())


def test_texts_that_came_since_are_asked_for_directly(peer):
    notes = Notes()
    with pytest.raises(KilledError):
        embed_many(peer, notes, sleep=kill)
    found = embed_many(peer, notes, ["new", *TEXTS])
    assert_are_of(found, ["new", *TEXTS])
    assert peer.requests[-1]["input"] == ["new"]


def test_a_job_of_another_model_is_not_taken_for_this_ones(peer):
    notes = Notes({"embedding.jobs.work": json.dumps({"made": "other/8", "jobs": ["batch_9"], "count": 1})})
    embed_many(peer, notes)
    assert len(job_requests(peer)) == 1


def test_a_text_that_is_refused_is_reported_in_its_place(peer):
    peer.bad_lines = {TEXTS[2]}
    found = embed_many(peer, Notes())
    assert isinstance(found[2], EmbedderRefused) and found[2].status == 400
    assert_are_of([found[3]], [TEXTS[3]])


@in_one_case("status", ["failed", "expired", "cancelled"])
def test_what_a_job_did_not_answer_is_asked_for_directly(peer, status):
    notes = Notes()
    with pytest.raises(KilledError):
        embed_many(peer, notes, sleep=kill)
    *_, job = peer.jobs.values()
    job |= {"status": status, "output_file_id": None}
    assert_are_of(embed_many(peer, notes), TEXTS)


def test_a_job_that_is_not_known_any_more_is_done_directly(peer):
    notes = Notes({"embedding.jobs.work": json.dumps({"made": f"{MODEL}/0", "jobs": ["batch_9"], "count": 1})})
    assert_are_of(embed_many(peer, notes), TEXTS)


def test_beginning_a_job_is_not_tried_again_by_itself(peer):
    peer.faults.append(500)  # the answer to /batches, after which nobody knows whether it was begun
    with pytest.raises(EmbedderUnavailable, match="500"):
        embed_many(peer, Notes())
    assert len(job_requests(peer)) == 1


def test_the_official_client_reads_the_same_jobs(peer):
    notes = Notes()
    with pytest.raises(KilledError):
        embed_many(peer, notes, sleep=kill)
    with openai.OpenAI(api_key=KEY, base_url=peer.url) as client:
        uploaded = client.files.create(file=("texts.jsonl", next(iter(peer.files.values()))), purpose="batch")
        job = client.batches.create(input_file_id=uploaded.id, endpoint="/v1/embeddings", completion_window="24h")
        assert client.batches.retrieve(job.id).status == "in_progress"
    ours, official = job_requests(peer)
    assert set(ours) == set(official)
    assert peer.files[ours["input_file_id"]] == peer.files[official["input_file_id"]]


def test_a_large_back_fill_goes_by_job_while_new_lines_go_directly(peer, tmp_path):
    store = CompanionStore(SqliteDatabase(tmp_path / "store.db"))
    store.open()
    board = Board(store)
    board.say(*(f"old {number}" for number in range(20)))
    direct = jobs_of(peer, store.values)._embedder
    waits, may_go_on = asyncio.Event(), asyncio.Event()
    identity = Identity(MODEL, WIDTH, KEY_VERSION)

    def seqs():
        return [one.seq for _, one in store.vectors.vectors("kitchen", identity, 0)]

    async def work():
        peer.polls_until_done = 3

        async def sleep(seconds):
            waits.set()
            await may_go_on.wait()

        jobs = jobs_of(peer, store.values, sleep)
        backlog = make(store, direct, jobs=jobs, jobs_least=10)
        task = asyncio.create_task(backlog.run())
        await waits.wait()
        board.say("new")
        backlog.wake()
        await wait_until_async("the new line's vector, while the job waits", lambda: seqs() == [21])
        may_go_on.set()
        await wait_until_async("the others' vectors", lambda: len(seqs()) == 21)

        def is_done():
            backlog.wake()
            return backlog.progress.done == backlog.progress.total

        await wait_until_async("it is noted that all is done", is_done)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await backlog.stop()
        await jobs.close()
        await direct.close()

    asyncio.run(work())
    assert sorted(seqs()) == list(range(1, 22))
    assert len(peer.jobs) == 1
    assert ["new"] in [request.get("input") for request in peer.requests]
    store.close()


class OneJob:
    """Jobs of which the first ends when it is let."""

    model = "little"

    def __init__(self):
        self.begun, self.may_end, self.is_cancelled = asyncio.Event(), asyncio.Event(), False
        self.error: Exception | None = None

    async def embed_many(self, work, texts):
        self.begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.is_cancelled = True
            raise
        if self.error:
            raise self.error
        return [direction(text, self.model, 8) for text in texts]


@pytest.fixture
def store(tmp_path):
    store = CompanionStore(SqliteDatabase(tmp_path / "store.db"))
    store.open()
    yield store
    store.close()


async def begin_job(store):
    """A keeper that has begun a job, and lost the lease since."""
    Board(store).say(*(f"old {number}" for number in range(20)))
    jobs = OneJob()
    backlog = make(store, Embedder(), jobs=jobs, jobs_least=10)
    await backlog.run_round()
    await jobs.begun.wait()
    backlog._lease.set_held(False)
    return backlog, jobs


def test_a_job_ends_with_the_lease(store):
    async def work():
        backlog, jobs = await begin_job(store)
        assert not await backlog.run_round()
        jobs.may_end.set()
        assert jobs.is_cancelled
        await backlog.stop()

    asyncio.run(work())
    assert not list(store.vectors.vectors("kitchen", Identity("little", 8, KEY_VERSION), 0))


def test_what_a_job_failed_with_is_reported_by_one_that_lost_the_lease_too(store):
    async def work():
        backlog, jobs = await begin_job(store)
        jobs.error = EmbedderUnavailable("the job failed.")
        jobs.may_end.set()
        await wait_until_async("the job's end", lambda: backlog._job and backlog._job.done())
        with pytest.raises(EmbedderUnavailable, match="the job failed"):
            await backlog.run_round()
        assert not await backlog.run_round()
        await backlog.stop()

    asyncio.run(work())
