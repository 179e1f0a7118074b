"""The keeper of the vectors' index over a real store: it ends whole, whatever stops it, and says what is the matter."""

import asyncio
import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embedded_board import KEY, Board, Embedder, KilledError, make, text_of
from embedding_service import direction
from engram_host.companion.embedding import indexer as backlog_module
from engram_host.companion.errors import EmbedderUnavailable, StoreUnavailable
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.processes import Lease
from engram_host.companion.store.sqlite import SqliteDatabase
from engram_host.companion.store.vectors import Identity, text_digest
from waiting import SECONDS, wait_until_async


@pytest.fixture
def store(tmp_path):
    store = CompanionStore(SqliteDatabase(tmp_path / "store.db"))
    store.open()
    yield store
    store.close()


def finish(backlog):
    async def work():
        for _ in range(10_000):
            if not await backlog.run_round():
                return
        raise AssertionError("there is no end to it")

    asyncio.run(work())


def stored(store, embedder, device="kitchen"):
    identity = Identity(embedder.model, embedder.dimensions, KEY)
    return {one.seq: one for _, one in store.vectors.vectors(device, identity, 0, 100_000)}


def assert_whole(store, embedder, board):
    found = stored(store, embedder, board.device)
    wanted = {seq: text for seq, text in enumerate(board.texts, 1) if text}
    assert set(found) == set(wanted)
    for seq, text in wanted.items():
        assert found[seq].digest == text_digest(text)
        np.testing.assert_allclose(found[seq].vector, direction(text, embedder.model, embedder.dimensions), atol=1e-6)


@pytest.fixture
def small(monkeypatch):
    """Windows so small that a few lines are many of them."""
    monkeypatch.setattr(backlog_module, "WINDOW", 4)
    monkeypatch.setattr(backlog_module, "TEXTS_AT_ONCE", 3)


def test_nothing_is_embedded_twice_in_the_end(store, small):
    board, embedder = Board(store), Embedder()
    board.say(*"abcdefghij")
    finish(make(store, embedder))
    board.say("k")
    finish(make(store, embedder))
    assert sorted(embedder.asked) == sorted("abcdefghijk")


def test_the_newest_lines_come_first(store, small):
    board, embedder = Board(store), Embedder()
    board.say(*"abcdefgh")
    finish(make(store, embedder))
    assert embedder.asked == list("hgfedcba")


def test_progress_is_counted_call_by_call(store, small):
    board, embedder, left = Board(store), Embedder(), []
    board.say(*"abcdefg")
    backlog = make(store, embedder)
    embedder.on_call = lambda: left.append(backlog.left)
    finish(backlog)
    assert (left, backlog.left) == ([7, 4, 3], 0)


def test_all_devices_get_a_share_of_each_round(store, small):
    boards, embedder = [Board(store, name) for name in ("one", "two")], Embedder()
    for board in boards:
        board.say(*(f"{board.device} {number}" for number in range(12)))
    asyncio.run(make(store, embedder).run_round())
    assert {text.split()[0] for text in embedder.asked} == {"one", "two"}


def test_a_line_that_becomes_another_gets_another_vector(store, small):
    board, embedder = Board(store), Embedder()
    board.say("a", "b")
    backlog = make(store, embedder)
    finish(backlog)
    board.rewrite(1, "z")
    finish(backlog)
    assert_whole(store, embedder, board)


@settings(max_examples=25)
@given(steps=st.lists(st.one_of(st.integers(1, 9), st.just("kill"), st.just("round")), min_size=1, max_size=12))
def test_the_index_ends_whole_whatever_comes_between(tmp_path_factory, steps):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backlog_module, "WINDOW", 4)
        patch.setattr(backlog_module, "TEXTS_AT_ONCE", 2)
        patch.setattr(backlog_module, "_MOST_GAPS", 2)
        store = CompanionStore(SqliteDatabase(tmp_path_factory.mktemp("life") / "store.db"))
        store.open()
        board, embedder = Board(store), Embedder()
        backlog = make(store, embedder)
        for step in steps:
            if isinstance(step, int):
                board.say(*(f"{len(board.texts) + number}" for number in range(step)))
            elif step == "round":
                asyncio.run(backlog.run_round())
            else:
                embedder.calls_left = 1
                with contextlib.suppress(KilledError):
                    asyncio.run(backlog.run_round())
                embedder.calls_left = 10**9
                backlog = make(store, embedder)
        finish(backlog)
        assert_whole(store, embedder, board)
        assert not backlog.left
        store.close()


def test_another_model_pauses_searches_until_the_index_is_whole_again(store, small):
    board, old, new = Board(store), Embedder(), Embedder("big", 6)
    board.say(*"abcdefghij")
    finish(make(store, old))
    backlog = make(store, new)
    asyncio.run(backlog.run_round())
    assert backlog.identity is None
    assert "big/6/3" in backlog.paused and "little/8/3" in backlog.paused and "words only" in backlog.paused
    assert stored(store, old)
    finish(backlog)
    assert (backlog.identity, backlog.paused) == (Identity("big", 6, KEY), "")
    assert_whole(store, new, board)
    assert not stored(store, old)


def test_searches_use_another_identity_once_it_is_prepared(store):
    used = []

    async def prepare():
        used.append(backlog.identity)

    Board(store).say("a")
    backlog = make(store, prepare=prepare)
    finish(backlog)
    assert (used, backlog.identity) == ([None], Identity("little", 8, KEY))


def test_a_text_that_is_refused_is_left_out_and_reported(store, small):
    board, embedder = Board(store), Embedder()
    board.say(*"abcdefg")
    embedder.refused = {"c"}
    backlog = make(store, embedder)
    finish(backlog)
    board.texts[2] = ""
    assert_whole(store, embedder, board)
    assert "that text is not taken" in backlog.refusal


class Breaking:
    """A store of which one call fails now and then."""

    def __init__(self, store, name, times):
        self._store, self._name, self._times = store, name, times

    def __getattr__(self, name):
        return _BreakingTable(self, getattr(self._store, name))

    def call(self, name):
        if name == self._name and self._times > 0:
            self._times -= 1
            raise StoreUnavailable("the disk is away.")


class _BreakingTable:
    def __init__(self, store, table):
        self._store, self._table = store, table

    def __getattr__(self, name):
        self._store.call(name)
        return getattr(self._table, name)


@pytest.mark.parametrize("call", ["get", "put", "devices", "changes", "put_vectors"])
def test_a_store_that_fails_is_tried_again(store, small, monkeypatch, call):
    monkeypatch.setattr(backlog_module, "_FIRST_PAUSE", 0.001)
    board, embedder = Board(store), Embedder()
    board.say(*"abcdef")
    run_until(make(Breaking(store, call, 2), embedder), lambda: len(stored(store, embedder)) == 6)
    assert_whole(store, embedder, board)


def run_until(backlog, is_done):
    async def work():
        task = asyncio.create_task(backlog.run())
        try:
            await wait_until_async("it is done", is_done)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    asyncio.run(work())


def test_a_failing_embedder_is_reported_and_then_gone_on_with(store, small, monkeypatch):
    monkeypatch.setattr(backlog_module, "_FIRST_PAUSE", 0.01)
    board, embedder = Board(store), Embedder()
    board.say(*"abc")
    embedder.error = EmbedderUnavailable("little is overloaded.")
    backlog = make(store, embedder)

    def is_done():
        if backlog.trouble and embedder.error:
            assert backlog.trouble == "little is overloaded." and "words only" in backlog.paused
            embedder.error = None
        return len(stored(store, embedder)) == 3 and not backlog.trouble

    run_until(backlog, is_done)
    assert backlog.paused == ""


@pytest.mark.parametrize("is_restarted", [False, True])
def test_in_another_zone_texts_that_have_another_day_get_their_vectors(store, small, is_restarted):
    board, embedder = Board(store), Embedder()
    board.say(*"abcdef")

    def dated(device, change):
        return f"[{(change.seq * 6 + device.zone.standard // 60) // 24}] {text_of(device, change)}"

    backlog = make(store, embedder, text_of=dated)
    finish(backlog)
    if is_restarted:
        backlog.stop()
        backlog = make(store, embedder, text_of=dated)
    board.greet(zone=600)
    finish(backlog)
    device, found = store.boards.device("kitchen"), stored(store, embedder)
    texts = {change.seq: dated(device, change) for change in store.boards.changes("kitchen", 0)}
    assert {seq: one.digest for seq, one in found.items()} == {seq: text_digest(text) for seq, text in texts.items()}


def test_a_rule_of_a_time_zone_leaves_the_vectors_as_they_are(store, small):
    board, embedder = Board(store), Embedder()
    board.say(*"abcdef")
    backlog = make(store, embedder)
    finish(backlog)
    board.greet(zone=0, rule="GMT0BST,M3.5.0/1,M10.5.0")
    finish(backlog)
    assert len(stored(store, embedder)) == len(embedder.asked) == 6


def test_new_lines_wake_it(store, small, monkeypatch):
    monkeypatch.setattr(backlog_module, "_POLL_SECONDS", 100 * SECONDS)
    board, embedder = Board(store), Embedder()
    backlog = make(store, embedder)
    said = []

    def is_done():
        if backlog._awake._waiters and not said:
            said.append(True)
            board.say("a")
            backlog.wake()
        return bool(stored(store, embedder))

    run_until(backlog, is_done)
    assert_whole(store, embedder, board)


def of_another() -> Lease:
    """A lease that another process holds."""
    return Lease("embedding", wake_keeper=lambda: None)


def test_of_two_companions_one_keeps_the_index_and_both_know_of_it(store, small):
    board, embedders = Board(store), [Embedder(), Embedder()]
    board.say(*"abcdef")
    keeper, other = make(store, embedders[0]), make(store, embedders[1], lease=of_another())
    finish(keeper)
    finish(other)
    assert not embedders[1].asked
    assert other.identity == keeper.identity


def test_a_companion_with_another_model_than_the_index_searches_by_words(store, small):
    Board(store).say("a")
    finish(make(store, Embedder()))
    other = make(store, Embedder("big", 6), lease=of_another())
    finish(other)
    assert other.identity is None and "big/6/3" in other.paused


def test_a_database_that_went_back_is_looked_through_again(store, small):
    board, embedder = Board(store), Embedder()
    identity = Identity("little", 8, KEY)
    backlog_module.write_position(store.values, "kitchen", backlog_module.IndexPosition(str(identity), 0, 1000, []))
    board.say(*"abc")
    finish(make(store, embedder))
    assert_whole(store, embedder, board)
