"""The board's code and the companion's, over a way that loses, doubles and reorders messages, on both databases.

Whatever happens to the way and to the board: each message has one answer, whole, and none is answered by the model twice
unless the power went before its reply was kept.
"""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from companion_store import replication_of
from engram.clock import Backoff
from engram.errors import StoreError
from engram_host.companion.conversations import service as conversations
from engram_host.companion.conversations.service import ConversationService, Progress
from engram_host.companion.replication.protocol import MessageDispatcher
from engram_host.companion.settings import ChatSettings
from engram_host.companion.store import CompanionStore
from engram_host.companion.supervisor import Supervisor
from engram_host.companion.types import Piece, Said
from extent import with_more
from talking_board import TalkingBoard, hurry
from waiting import wait_until_async

SECONDS = 60


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch):
    for module, values in hurry().items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(conversations, "LOOK_SECONDS", 0.02)


@asynccontextmanager
async def talking(store: CompanionStore, **more: Any) -> AsyncIterator[tuple[ConversationService, TalkingBoard]]:
    supervisor = Supervisor()
    service = ConversationService(
        boards=store.boards,
        conversations=store.conversations,
        settings=ChatSettings(person_messages=100),
        supervisor=supervisor,
    )
    nothing: Any = None
    dispatcher = MessageDispatcher(replication_of(store, supervisor), nothing, nothing, nothing, service.answer_board)
    board = TalkingBoard(store, dispatcher.answers_or_nothing, **more)
    service.start()
    await board.start()
    try:
        yield service, board
    finally:
        await board.kill()
        await service.stop()


def play(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def timed() -> None:
        async with asyncio.timeout(SECONDS):
            await work()

    asyncio.run(timed())


async def answer(service: ConversationService, mid: str, after: int = 0) -> tuple[str, str, int]:
    """(the state in the end, the answer, how often it started again) of a message."""
    text, again, state = "", 0, ""
    async for event in service.follow("kitchen", mid, after):
        if isinstance(event, Progress):
            state = event.conversation.state
        elif isinstance(event, Piece):
            text, again = ("", again + 1) if event.kind == "again" else (text + event.text, again)
    return state, text, again


def long_reply(text: str) -> list[str]:
    """A reply in pieces as a model gives them, some of which are longer than a message takes."""
    chance = random.Random(text)
    return [f"{text}:", *("ä" * chance.choice([1, 3, 20, 900]) for _ in range(chance.randrange(40))), "."]


@pytest.mark.parametrize("seed", with_more([0], range(1, 20)))
def test_each_message_is_answered_once_over_a_faulty_way(store: CompanionStore, seed: int):
    async def work() -> None:
        async with talking(store, chance=random.Random(seed), reply_to=long_reply) as (service, board):
            said = [Said(f"m{number}", f"person{number % 3}", f"text {number}") for number in range(12)]
            for each in said:
                await service.say("kitchen", each)
            for each in said:
                state, text, _ = await answer(service, each.mid)
                assert (state, text) == ("done", "".join(long_reply(each.text))), each.mid
            assert [entry[2] for entry in board.journal.values()] == [1] * len(said)

    play(work)


@pytest.mark.parametrize("seed", with_more([0], range(1, 20)))
def test_a_board_that_is_killed_again_and_again_answers_each_message(
    store: CompanionStore, seed: int, monkeypatch: pytest.MonkeyPatch
):
    # On a busy machine all kills may fall on one message.
    monkeypatch.setattr("engram_host.companion.store.conversations.table.MOST_BEGUN", 1000)
    chance = random.Random(seed)
    kills = 0

    async def work() -> None:
        nonlocal kills
        async with talking(store, chance=random.Random(seed), reply_to=long_reply) as (service, board):
            said = [Said(f"m{number}", "ann", f"text {number}") for number in range(8)]
            for each in said:
                await service.say("kitchen", each)
            while await asyncio.to_thread(store.conversations.boards_with_messages):
                await asyncio.sleep(chance.random() * 0.15)
                if kills < 25:
                    await board.restart()
                    kills += 1
            for each in said:
                state, text, _ = await answer(service, each.mid)
                assert (state, text) == ("done", "".join(long_reply(each.text))), each.mid
            assert all(entry[1] is not None for entry in board.journal.values())

    play(work)


@pytest.mark.both_databases
def test_a_conversation_adds_two_messages_before_the_first_piece(store: CompanionStore):
    """The board listens already: what comes and goes then are the message, the sign that it is on flash, and the answer."""

    async def work() -> None:
        async with talking(store, wait_seconds=20) as (service, board):
            await wait_until_async("the board listens", lambda: board.way.sent == ["listen"])
            await service.say("kitchen", Said("a", "ann", "hi"))
            assert (await answer(service, "a"))[:2] == ("done", "You said hi.")
            sent = board.way.sent[1:]
            assert (
                sent.index("reply") <= 2 and sent[0] == "say" and set(sent[: sent.index("reply")]) <= {"say", "listen"}
            )

    play(work)


def test_pieces_that_come_while_one_is_under_way_go_together(store: CompanionStore):
    async def work() -> None:
        async with talking(store, reply_to=lambda text: ["ab"] * 200) as (service, board):
            await service.say("kitchen", Said("a", "ann", "hi"))
            assert (await answer(service, "a"))[:2] == ("done", "ab" * 200)
            assert board.way.sent.count("reply") < 40

    play(work)


def test_who_follows_goes_on_where_they_were(store: CompanionStore):
    async def work() -> None:
        async with talking(store, reply_to=lambda text: ["one ", "two ", "three"]) as (service, _):
            await service.say("kitchen", Said("a", "ann", "hi"))
            assert (await answer(service, "a"))[1] == "one two three"
            pieces = [event async for event in service.follow("kitchen", "a") if isinstance(event, Piece)]
            rest = await answer(service, "a", after=pieces[0].number)
            assert rest[1] == "".join(piece.text for piece in pieces[1:])

    play(work)


@pytest.mark.parametrize(
    "mode, principal, is_allowed", [("owner", "owner", True), ("others", "owner", False), ("others", "ann", True)]
)
def test_the_board_decides_who_may_be_spoken_for(store: CompanionStore, mode: str, principal: str, is_allowed: bool):
    async def work() -> None:
        async with talking(store, mode=mode) as (service, board):
            await service.say("kitchen", Said("a", principal, "hi", "phone"))
            state, text, _ = await answer(service, "a")
            assert state == "done" and bool(board.journal) == is_allowed
            assert ("You said hi." in text) if is_allowed else ("companion.chat owner" in text)
            if is_allowed:
                assert board.callers["link:a"].room == "link phone" and board.callers["link:a"].principal == principal

    play(work)


def test_somebody_whose_message_the_board_fails_to_take_is_told_so_and_gets_the_answer_once_it_does(
    store: CompanionStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(conversations, "AWAY_SECONDS", 0.0)
    monkeypatch.setattr(conversations, "HEARD_SECONDS", 1 << 40)

    async def work() -> None:
        async with talking(store) as (service, board):
            take, told = board.inbound._take, [""]
            board.inbound._backoff = Backoff(50, 50)  # or it is given up before somebody looks at it again

            async def fail(*message: Any) -> None:
                if "given the message" not in told[-1]:
                    raise StoreError("the flash is away.")
                await take(*message)

            board.inbound._take = fail
            await service.say("kitchen", Said("a", "ann", "hi"))
            async for event in service.follow("kitchen", "a"):
                if isinstance(event, Progress) and event.told:
                    told.append(event.told)
            sentence = "kitchen was given the message and has not said that it has got it: it is kept, and given again."
            # When the board takes it at last, it may be told as well that it waits for its turn there.
            queued = "kitchen has other messages to answer first; this one is kept until it is its turn."
            assert told.count(sentence) == 1 and set(told[told.index(sentence) + 1 :]) <= {queued}
            found = await service.find("kitchen", "a")
            assert (found.state, found.begun, found.unnamed) == ("done", 1, 0)

    play(work)
