"""What one worker changes, another one knows of at once: notices of PostgreSQL, while nobody looks by himself."""

import asyncio
import json
import time
from typing import Any

import pytest

from engram_host.companion.conversations import service as conversations
from engram_host.companion.conversations.service import ConversationService, Progress
from engram_host.companion.settings import ChatSettings
from engram_host.companion.store import CompanionStore, choose_store, processes
from engram_host.companion.store.database import MOST_NOTICE_BYTES, Notice, NoticeKind, parse_notice
from engram_host.companion.store.processes import NoticeListener
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import LOGS, Hello, LogState, Piece, Said, Sender
from hearing_workers import play
from one_case import in_one_case
from postgres_server import PostgresServer, cut_notices
from waiting import wait_until_async

BOARD = Sender("b1", 3, 1)
SAID = Said("m1", "ann", "hi", "phone")


class Worker:
    """The conversations of one worker."""

    def __init__(self, url: str):
        self.store = choose_store(url)
        self.store.open()
        self.heard: list[Notice] = []
        supervisor = Supervisor()
        self.conversations = ConversationService(
            boards=self.store.boards,
            conversations=self.store.conversations,
            settings=ChatSettings(),
            supervisor=supervisor,
        )
        listeners = self.conversations.take_notice, self.heard.append
        self.listener = NoticeListener(self.store.database, supervisor, listeners)

    async def stop(self) -> None:
        await self.conversations.stop()

    async def board(self, op: str, n: int, **fields: Any) -> list[bytes]:
        """What the board is answered here."""
        head = {"op": op, "board": BOARD.board, "link": BOARD.link, "n": n, "mid": "", **fields}
        body = json.dumps(head.pop("items", [])).encode()
        return await self.conversations.answer_board("kitchen", head, body)  # pyright: ignore[reportArgumentType]


@pytest.fixture
def url(postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database that knows the board, and workers that do not look for changes by themselves."""
    monkeypatch.setattr(conversations, "LOOK_SECONDS", 1000.0)
    monkeypatch.setattr(processes, "RETRY_SECONDS", 0.05)
    postgres.clear()
    store = choose_store(postgres.url)
    store.open()
    store.replication.greet(Hello("kitchen", BOARD, 0, {name: LogState(7, 1, 1, 0) for name in LOGS}), int(time.time()))
    store.close()
    return postgres.url


async def listening(worker: Worker, n: int) -> "asyncio.Task[list[bytes]]":
    """A question of the board for messages, which this worker holds."""
    task = asyncio.create_task(worker.board("listen", n, wait=40, turn=""))
    await wait_until_async("the board listens", lambda: worker.conversations._board_side.listening)
    return task


def test_a_message_said_at_one_worker_wakes_a_board_that_listens_at_another(url: str):
    async def script(first: Worker, second: Worker) -> None:
        task = await listening(second, 2)
        await first.conversations.say("kitchen", SAID)
        assert b'"say"' in (await task)[0]

    play(lambda: Worker(url), script)


def test_an_answer_that_one_worker_takes_reaches_who_follows_it_at_another(url: str):
    async def script(first: Worker, second: Worker) -> None:
        events: list[Any] = []

        async def follow() -> None:
            async for event in first.conversations.follow("kitchen", "m1"):
                events.append(event)

        await first.conversations.say("kitchen", SAID)
        following = asyncio.create_task(follow())
        await wait_until_async("it is followed", lambda: events)
        await second.board("listen", 2, wait=0, turn="")
        await second.board("reply", 3, mid="m1", offer=1, k=1, items=[["text", "yes"], ["end", "t1"]])
        await following
        assert [event.text for event in events if isinstance(event, Piece)] == ["yes"]
        assert isinstance(events[-1], Progress) and events[-1].conversation.state == "done"

    play(lambda: Worker(url), script)


def test_after_the_connection_of_notices_was_lost_everybody_looks_again(url: str):
    async def script(first: Worker, second: Worker) -> None:
        task = await listening(second, 2)
        cut_notices(url)
        first.store.conversations.add_conversation(
            "kitchen", SAID, first.conversations._limits, int(time.time())
        )  # perhaps while nobody hears
        assert b'"say"' in (await task)[0]
        # The connection may have brought the message before it broke.
        await wait_until_async("it hears again", lambda: second.heard.count(Notice("")) == 2)

    play(lambda: Worker(url), script)


def test_a_transaction_that_fails_sends_no_notice(url: str):
    async def script(first: Worker, second: Worker) -> None:
        def fail(rows: Any) -> None:
            rows.notify(Notice("board", "kitchen").encode())
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            first.store.database.write(fail)
        first.store.values.notify_settings()
        await wait_until_async("the next notice", lambda: len(second.heard) > 1)
        assert second.heard[1] == Notice("settings")

    play(lambda: Worker(url), script)


KINDS: tuple[NoticeKind, ...] = ("board", "message", "pushed", "settings")


@in_one_case("kind", KINDS)
def test_a_notice_comes_as_it_went(kind: NoticeKind):
    for notice in (Notice(kind, "kitchen", "id with spaces"), Notice(kind, "kitchen"), Notice(kind)):
        assert parse_notice(notice.encode()) == notice


def test_what_is_unknown_or_too_long_may_be_anything(store: CompanionStore):
    assert parse_notice("later kitchen") == parse_notice("") == Notice("")
    long = Notice("message", "kitchen", "x" * MOST_NOTICE_BYTES)
    assert long.encode() == ""
    store.database.write(lambda rows: rows.notify(long.encode()))
