"""What chats are owed, in the database: bounded, told when it was dropped, gone after its time; idle, it costs nothing."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from bridged_house import OPEN, House, Unwatched, in_house
from engram_host.companion.bridges.network import Chat, Incoming
from engram_host.companion.conversations.bridge_engine import message_id
from engram_host.companion.errors import TooManyWaiting, UnknownDevice
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.bridges import deliveries
from engram_host.companion.store.bridges.types import ChatPlace, Delivery, Shown
from engram_host.companion.types import LOGS, ConversationLimits, Hello, LogState, Said, Sender
from waiting import wait_until_async

Open = Callable[[], CompanionStore]

NOW = 1_795_000_000
HERE = ChatPlace("home", "5")
LIMITS = ConversationLimits(person_messages=2)
BOARD = Sender("b1", 3, 9)


@pytest.fixture
def kitchen(store: CompanionStore) -> CompanionStore:
    store.replication.greet(Hello("kitchen", BOARD, 0, {name: LogState(7, 1, 1, 0) for name in LOGS}), NOW)
    return store


def owed(mid: str, place: ChatPlace = HERE, text: str = "", device: str = "kitchen") -> Delivery:
    return Delivery(0, place, "m" + mid, device, mid, text, NOW)


def add(store: CompanionStore, mid: str, place: ChatPlace = HERE, now: int = NOW) -> Delivery | None:
    said = Said(mid, "ann", "hi", f"net {place.chat}")
    return store.deliveries.add_message(owed(mid, place), said, LIMITS, now)


def numbers(store: CompanionStore) -> list[str]:
    return [each.mid for each in store.deliveries.open_deliveries("home")]


# --- rows


def test_a_message_and_what_its_chat_is_owed_are_one_change(kitchen: CompanionStore):
    assert add(kitchen, "a") and add(kitchen, "a") is None and add(kitchen, "b")
    with pytest.raises(TooManyWaiting):
        add(kitchen, "c")
    assert numbers(kitchen) == ["a", "b"] and not kitchen.deliveries.is_known("c")
    assert [each.said.mid for each in kitchen.conversations.conversations("kitchen", 9)] == ["b", "a"]
    with pytest.raises(UnknownDevice):
        kitchen.deliveries.add_message(owed("d", device="attic"), Said("d", "ann", "hi", "net 5"), LIMITS, NOW)
    assert not kitchen.deliveries.is_known("d")


def test_how_much_is_shown_is_there_after_a_restart(kitchen: CompanionStore, open_store: Open):
    delivery = add(kitchen, "a")
    shown = Shown(("x1", "x2"), 1, 400, 420, "abc", "(late)\n", True, True)
    assert delivery and kitchen.deliveries.save_shown(delivery.number, shown, NOW)
    assert open_store().deliveries.open_deliveries("home") == [replace(delivery, shown=shown)]
    kitchen.deliveries.end_delivery(delivery.number, "done", NOW)
    assert not kitchen.deliveries.save_shown(delivery.number, shown, NOW) and numbers(kitchen) == []
    assert kitchen.deliveries.open_delivery(delivery.number) is None and kitchen.deliveries.is_known("a")


def test_a_chat_is_owed_so_much_at_most(kitchen: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    assert deliveries.MOST_OPEN_CHAT >= 20 and deliveries.MOST_OPEN >= 1000
    monkeypatch.setattr(deliveries, "MOST_OPEN_CHAT", 2)
    add(kitchen, "a")
    for mid in "bcd":
        kitchen.deliveries.add_text(owed(mid, text="x", device=""), NOW)
    assert numbers(kitchen) == ["c", "d"]


def test_all_chats_are_owed_so_much_at_most(kitchen: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(deliveries, "MOST_OPEN", 3)
    for number in range(6):
        kitchen.deliveries.add_text(owed(f"{number}", ChatPlace("home", f"c{number}"), "x", ""), NOW)
    assert numbers(kitchen) == ["3", "4", "5"]


def test_what_is_old_goes(kitchen: CompanionStore):
    done, late = add(kitchen, "a"), add(kitchen, "b")
    assert done and late
    kitchen.deliveries.end_delivery(done.number, "done", NOW + 10)
    assert kitchen.deliveries.expire_deliveries(NOW, NOW + 10, NOW + 20) == [] and kitchen.deliveries.is_known("a")
    assert kitchen.deliveries.expire_deliveries(NOW + 1, NOW + 11, NOW + 20) == [late.number]
    assert not kitchen.deliveries.is_known("a") and numbers(kitchen) == []
    kitchen.deliveries.expire_deliveries(0, NOW + 21, NOW + 30)
    assert not kitchen.deliveries.is_known("b")


def test_the_chats_in_which_nobody_talked_for_longest_go(kitchen: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    assert deliveries.MOST_CHATS >= 1000
    monkeypatch.setattr(deliveries, "MOST_CHATS", 2)
    for number in range(4):
        kitchen.deliveries.choose_board(ChatPlace("home", f"c{number}"), "net:5", "net x", "kitchen", NOW + number)
    kitchen.deliveries.expire_deliveries(0, 0, NOW)
    chosen = [kitchen.deliveries.chosen_board(ChatPlace("home", f"c{number}")) for number in range(4)]
    assert chosen == ["", "", "kitchen", "kitchen"]


def test_a_thread_has_its_chats_board_unless_one_was_chosen_there(kitchen: CompanionStore):
    thread = replace(HERE, thread="9")
    kitchen.deliveries.choose_board(HERE, "net:5", "net 5", "kitchen", NOW)
    assert kitchen.deliveries.chosen_board(thread) == "kitchen"
    kitchen.deliveries.choose_board(thread, "net:5", "net 5 9", "garden", NOW)
    assert (kitchen.deliveries.chosen_board(thread), kitchen.deliveries.chosen_board(HERE)) == ("garden", "kitchen")


def test_a_push_goes_to_the_chat_where_its_board_was_asked_last(kitchen: CompanionStore):
    kitchen.replication.greet(Hello("garden", BOARD, 0, {name: LogState(7, 1, 1, 0) for name in LOGS}), NOW)
    other = ChatPlace("work", "5")
    add(kitchen, "a")
    kitchen.deliveries.add_message(owed("b", other, device="garden"), Said("b", "ann", "hi", "net 5"), LIMITS, NOW + 5)
    for board in ("kitchen", "garden"):
        kitchen.conversations.add_push(BOARD, board, Said("push:1:t1", "", f"from {board}", "net 5"), NOW)
        kitchen.conversations.add_push(BOARD, board, Said("push:1:t2", "", "for nobody", "net 6"), NOW)
    assert kitchen.deliveries.add_pushes(["elsewhere"], NOW) == ([], [])
    added, _ = kitchen.deliveries.add_pushes(["home", "work"], NOW)
    assert [(each.place, each.text) for each in added] == [(HERE, "from kitchen"), (other, "from garden")]
    assert kitchen.deliveries.add_pushes(["home", "work"], NOW) == ([], [])


def test_a_bridge_that_has_another_account_leaves_nothing_of_the_former_one(kitchen: CompanionStore):
    assert not kitchen.deliveries.claim_bridge("home", "matrix @a:x")
    add(kitchen, "a")
    kitchen.deliveries.save_bridge_mark("home", "s1")
    assert not kitchen.deliveries.claim_bridge("home", "matrix @a:x")
    assert numbers(kitchen) and kitchen.deliveries.bridge_mark("home") == "s1"
    assert kitchen.deliveries.claim_bridge("home", "xmpp a@x")
    assert numbers(kitchen) == [] and kitchen.deliveries.bridge_mark("home") == ""
    assert not kitchen.deliveries.claim_bridge("home", "xmpp a@x")
    kitchen.deliveries.forget_bridge("home")
    assert not kitchen.deliveries.claim_bridge("home", "matrix @a:x")


def test_the_id_of_a_message_fits_a_board_and_differs_by_bridge_chat_and_message():
    message = Incoming("1", Chat("5"), "5")
    others = [replace(message, id="2"), replace(message, chat=Chat("6"))]
    ids = {message_id("home", each) for each in (message, *others)}
    ids |= {message_id("work", message), message_id("home", message, "7")}
    assert len(ids) == 5 and all(each.startswith("bridge:") and len(each) <= 56 for each in ids)
    assert message_id("home", replace(message, text="edited", at=7)) in ids


# --- the engine on them


@in_house()
async def test_an_answer_that_was_not_kept_long_enough_is_said_to_be_lost(house: House):
    network = house.network
    network.is_away = True
    await house.say("hi")
    await wait_until_async("it is answered", lambda: not house.store.conversations.boards_with_messages())
    await house.engine.detach("home")
    house.store.conversations.end_old_conversations(0, house.now() + 10, "too old", house.now())
    network.is_away = False
    house.host = house.engine.attach(house.settings, network, Unwatched())
    house.host.connected("engram")
    await house.wait_until_delivered()
    assert house.texts() == ["(The answer is not kept any more: ask again.)"]


@in_house(rules=replace(OPEN, policy="pairing", allow=frozenset()))
async def test_a_flood_of_strangers_costs_a_row_for_each_of_a_few_codes(house: House):
    house.network.is_away = True
    for number in range(200):
        await house.say("x" * 100, f"{number % 50}", f"{number % 50}")
    assert len(house.store.deliveries.open_deliveries("home")) == 3


@in_house()
async def test_a_bridge_that_ends_while_a_message_is_sent_waits_for_its_row(house: House):
    network = house.network
    arrived, answered = asyncio.Event(), asyncio.Event()
    show = network._show

    async def slow_send(chat: Chat, text: str, key: str, reply_to: str = "", is_plain: bool = False) -> str:
        done = show(chat, text, key, reply_to, is_plain)
        arrived.set()
        await answered.wait()
        return done

    network.send = slow_send  # pyright: ignore[reportAttributeAccessIssue]
    await house.say("hi")
    await arrived.wait()
    stopping = asyncio.create_task(house.engine.detach("home"))
    await asyncio.sleep(0)
    answered.set()
    await stopping
    del network.send
    house.host = house.engine.attach(house.settings, network, Unwatched())
    house.host.connected("engram")
    await house.wait_until_delivered()
    assert house.texts() == ["You said hi."]


@in_house()
async def test_nothing_is_left_of_a_chat_that_was_answered(house: House):
    for number in range(20):
        await house.say("hi", f"{number}", f"{number}")
    await house.wait_until_delivered()
    lanes = house.host._lanes
    await wait_until_async("all tasks ended", lambda: not (house.host._tasks._tasks or lanes._tasks._tasks))
    assert not lanes._lanes and not lanes._outlets and not lanes._numbers and not lanes._calls._tasks
