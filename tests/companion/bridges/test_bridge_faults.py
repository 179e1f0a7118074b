"""The engine of bridges over a network that fails in each way, and through kills at each step of network and database.

Whatever happens: each message has one answer, whole. What a person may have twice is marked; and what a board is given has the
principal, the room and the group of who said it.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

import pytest

from bridged_house import House, in_house
from engram_host.companion.bridges.errors import MarksRefused, SendFailed, SendRefused, SendUncertain, SlowDown
from engram_host.companion.bridges.network import Incoming
from engram_host.companion.conversations import bridge_engine, display, people
from engram_host.companion.conversations.display import AGAIN, BEGINS_AGAIN
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store.bridges.types import DeliveryEnd
from extent import matrix, with_more
from faulty_network import KINDS, PARAGRAPHS, ShownMessage
from waiting import wait_until_async

FEW = "edits", "lines"
EACH_KIND = pytest.mark.parametrize("kind", with_more(FEW, KINDS))


def reply(text: str, length: int = 9) -> list[str]:
    """A reply of several messages, whose paragraphs can be told apart."""
    return [f"{text}: part {number} of it, with some words more. <{text}/{number}>\n\n" for number in range(length)]


MARKS = AGAIN.strip(), BEGINS_AGAIN.strip()


def shown_times(messages: list[ShownMessage], token: str) -> tuple[int, int]:
    """How often a token is shown without a mark, and how often in or below a text with one."""
    found = [each.above or each.text for each in messages if token in each.text]
    marked = sum(text.startswith(MARKS) for text in found)
    return len(found) - marked, marked


def check_answers(house: House, said: list[Incoming], length: int = 9, *, may_repeat: bool = True) -> None:
    """Each answer is complete in its chat, nowhere else, and no part of it comes twice without a mark."""
    for message in said:
        here = [each for each in house.network.shown if each.chat == message.chat]
        others = [each for each in house.network.shown if each.chat != message.chat]
        assert not any(each.text in MARKS for each in here), "a mark stands with what it is about"
        for number in range(length):
            token = f"<{message.text}/{number}>"
            plain, marked = shown_times(here, token)
            assert plain <= 1 <= plain + marked, (token, [each.text for each in here])
            assert may_repeat or not marked, (token, [each.text for each in here])
            assert not any(token in each.text for each in others)


def check_callers(house: House, said: list[Incoming]) -> None:
    """The board was given each message once, as who said it and where."""
    by_text = {message.text: message for message in said}
    for board in house.boards.values():
        for mid, (text, _, answered) in board.journal.items():
            message, caller = by_text[text], board.callers[mid]
            room = people.room_of("net", message.chat.id, message.chat.thread)
            expected = f"net:{message.sender}", f"link {room}", message.chat.is_group
            assert (caller.principal, caller.room, caller.group) == expected
            assert answered >= 1
    assert sum(len(board.journal) for board in house.boards.values()) == len(said)


# --- one fault after the other


@pytest.mark.parametrize(
    "kind, error, at",
    matrix([*KINDS], [SendFailed("x"), SendUncertain("x"), SlowDown(0.01), MarksRefused("x")], range(4)),
)
@in_house(reply_to=reply)
async def test_an_answer_survives_each_error_at_each_of_its_messages(
    house: House, kind: str, error: Exception, at: int
):
    features = KINDS[kind]
    network = house.network
    fail = network._fail

    async def fail_once(is_plain: bool, act: Callable[[], str]) -> str:
        if network.calls == at + 1 and not network.fail_next:
            network._fail = fail  # pyright: ignore[reportAttributeAccessIssue]
            network.fail_next = [error]
        return await fail(is_plain, act)

    network._fail = fail_once  # pyright: ignore[reportAttributeAccessIssue]
    said = [await house.say("hi")]
    await house.wait_until_delivered()
    check_answers(house, said)
    is_doubtful = isinstance(error, SendUncertain) and not features.is_repeatable
    assert is_doubtful or not any(AGAIN in text for text in house.texts())


@EACH_KIND
@in_house()
async def test_a_chat_that_has_gone_is_owed_nothing_more(house: House, kind: str):
    network = house.network
    network.fail_next = [SendRefused("you are blocked.")]
    await house.say("hi")
    await house.wait_until_delivered()
    await house.say("again")
    assert await house.wait_for("You said") == "You said again." and len(house.texts()) == 1


@in_house(reply_to=reply)
async def test_a_message_that_cannot_be_edited_any_more_is_sent_anew(house: House):
    network = house.network
    network.fail_next = []
    edit = network.edit
    removed: list[str] = []

    async def removing_edit(chat, message: str, text: str, is_plain: bool = False) -> None:
        if not removed:
            removed.append(message)
            network.remove(next(each for each in network.shown if each.id == message))
        await edit(chat, message, text, is_plain)

    network.edit = removing_edit  # pyright: ignore[reportAttributeAccessIssue]
    said = [await house.say("hi")]
    await house.wait_until_delivered()
    check_answers(house, said)


class CancelledByItself(asyncio.CancelledError, Exception):
    """Raise as a library that cancels its own tasks and lets that through."""


@in_house(PARAGRAPHS)
async def test_an_unknown_error_of_a_library_is_tried_again_and_given_up_in_the_end(house: House):
    network = house.network
    network.fail_next = [ZeroDivisionError("a bug of a library"), CancelledByItself()]
    await house.say("hi")
    await house.wait_until_delivered()
    assert house.texts() == [f"{AGAIN}You said hi."]
    network.fail_next = [ZeroDivisionError("a bug of a library")] * 5
    await house.say("two")
    await house.say("three")
    await house.wait_until_delivered()
    assert house.texts()[1:] == ["You said three."]


@in_house(PARAGRAPHS)
async def test_an_answer_is_given_up_when_the_database_is_back_if_it_was_away_then(house: House):
    network = house.network
    network.fail_next = [ZeroDivisionError("a bug of a library")] * 5
    end_delivery = house.store.deliveries.end_delivery
    failures = [StoreUnavailable("the disk is full.")]

    def failing(number: int, end: DeliveryEnd, now: int) -> None:
        if failures:
            raise failures.pop()
        end_delivery(number, end, now)

    house.store.deliveries.end_delivery = failing
    await house.say("one")
    await house.say("two")
    await house.wait_until_delivered()
    assert not failures and house.texts() == ["You said two."]


@in_house(PARAGRAPHS)
async def test_while_the_network_asks_for_a_pause_it_is_left_alone(house: House):
    network = house.network
    network.fail_next = [SlowDown(3600)]
    await house.say("hi")
    await wait_until_async("one call failed", lambda: not network.fail_next)
    await house.say("hi", "6", "6")
    await house.wait_for("You said hi.", "6")
    await wait_until_async("nothing is under way", lambda: not network.busy)
    calls = network.calls
    for _ in range(50):
        await asyncio.sleep(0)
        house.host.connected("engram")
    assert network.calls == calls and house.texts() == []


@EACH_KIND
@in_house(reply_to=partial(reply, length=1))
async def test_answers_wait_for_a_network_that_is_away_and_go_when_it_is_back(house: House, kind: str):
    network = house.network
    network.is_away = True
    said = [await house.say(f"t{number}") for number in range(5)]
    await wait_until_async("it was tried", lambda: network.calls > 2)
    # In order: after a kill between a send and its row nobody would know whether it arrived.
    await house.stop()
    await house.start()
    network.is_away = False
    house.host.connected("engram")
    await house.wait_until_delivered()
    check_answers(house, said, 1, may_repeat=False)
    assert [text[1:3] for text in "".join(house.texts()).split() if text[0] == "<"] == [m.text for m in said]


# --- an answer that starts again


@pytest.mark.parametrize("kind", ["edits", "paragraphs"])
@in_house(boards=("kitchen",))
async def test_an_answer_that_starts_again_in_the_same_way_goes_on_where_it_was(house: House, kind: str):
    await house.boards["kitchen"].kill()
    said = await house.say("hi")
    board = Scripted(house)
    board.begin(1, "One.\n\nTwo.\n\nThr")
    await house.wait_for("Two.")
    board.begin(2, "One.\n\nTwo.\n\nThree.", is_end=True)
    await house.wait_until_delivered()
    assert "\n\n".join(house.texts()) == "One.\n\nTwo.\n\nThree." and said
    assert kind == "paragraphs" or len(house.texts()) == 1


@pytest.mark.parametrize("kind, is_killed", matrix(["edits", "paragraphs"], [False, True]))
@in_house()
async def test_an_answer_that_starts_again_in_another_way_takes_the_place_of_the_first(
    house: House, kind: str, is_killed: bool
):
    await house.boards["kitchen"].kill()
    await house.say("hi")
    board = Scripted(house)
    board.begin(1, "One.\n\nTwo.\n\nThr")
    await house.wait_for("Two.")
    await house.wait_until_known()
    if is_killed:
        await house.kill()
        board.begin(2, "Another.\n\nAnd on.", is_end=True)
        await house.start()
    else:
        board.begin(2, "Another.\n\nAnd on.", is_end=True)
    await house.wait_until_delivered()
    if kind == "edits":
        assert house.texts() == ["Another.\n\nAnd on."]
    else:
        assert house.texts()[-2:] == ["Another.", "And on."] or house.texts()[-1].endswith("And on.")
        assert BEGINS_AGAIN + "Another." in "\n".join(house.texts())


@in_house()
async def test_a_shorter_answer_that_starts_again_leaves_nothing_of_the_first_one(house: House):
    await house.boards["kitchen"].kill()
    await house.say("hi")
    board = Scripted(house)
    board.begin(1, "".join(reply("first")))
    await wait_until_async("two messages", lambda: len(house.texts()) > 1)
    board.begin(2, "Short.", is_end=True)
    await house.wait_until_delivered()
    assert house.texts()[0] == "Short." and set(house.texts()[1:]) == {display.VOID}


class Scripted:
    """A board whose answers a test writes into the database."""

    def __init__(self, house: House):
        self._house = house

    def begin(self, offer: int, text: str, *, is_end: bool = False) -> None:
        """Begin the answer to the only message, as the answer to an offer of it."""
        from engram_host.companion.store.conversations.table import Reply

        house = self._house
        store = house.open_another()
        (found,) = [each for each in store.conversations.conversations("kitchen", 9) if each.is_open]
        sender = house.sender("kitchen")
        store.conversations.next_message(sender, "kitchen", house.now())
        store.conversations.add_reply(
            sender,
            "kitchen",
            found.said.mid,
            Reply(offer, 1, [("text", text)], is_end),
            house.service._limits,
            house.now(),
        )
        house.service._changed.wake(("kitchen", found.said.mid))


# --- kills


PARTS = 4
"""Into how many cases the steps are divided, of which `make test` plays some."""


async def talk_through_a_kill(house: House, message: Incoming, kill_at: int) -> bool:
    """Say something, and kill the companion at a step; whether it came to that."""
    kills = house.kills
    house.steps.count, house.steps.kill_at = 0, kill_at
    await house.give(message)
    chat = message.chat.id
    await wait_until_async(
        "it is delivered or dead", lambda: house.steps.is_dead or (not house.host.owed and house.texts(chat) != [])
    )
    if house.steps.is_dead:
        await house.restart()
    house.steps.kill_at = 0
    await house.give(message)  # some networks give a message again after they lost a connection
    await house.wait_until_delivered()
    return house.kills > kills


@pytest.mark.parametrize(
    "kind, part", with_more([("edits", 0), ("paragraphs", 1), ("lines", 2)], product(KINDS, range(PARTS)))
)
@in_house(reply_to=partial(reply, length=3))
async def test_a_companion_that_is_killed_at_any_step_answers_once(house: House, kind: str, part: int):
    """At each of its steps in turn, until it needs no more of them."""
    said: list[Incoming] = []
    kill_at = 0
    for kill_at in range(part + 1, 200, PARTS):
        said.append(house.message(f"k{kill_at}", f"{kill_at}"))
        was_killed = await talk_through_a_kill(house, said[-1], kill_at)
        check_answers(house, said[-1:], 3)
        if not was_killed:
            break
    assert 10 < kill_at < 199
    check_callers(house, said)


# --- what a stranger may put into a message

UNSOUND = ["$\0x", "\ud800", "x" * 300]


@pytest.mark.parametrize("part, unsound", matrix(["id", "chat", "thread", "sender"], UNSOUND))
@in_house()
async def test_a_message_whose_id_no_database_takes_is_passed_over(house: House, part: str, unsound: str):
    message = house.message("hi")
    is_of_chat = part in ("chat", "thread")
    chat = replace(message.chat, **{"id" if part == "chat" else part: unsound}) if is_of_chat else message.chat
    await house.host.receive(replace(message, chat=chat, **({} if is_of_chat else {part: unsound})))
    await house.say("after it")
    await house.wait_until_delivered()
    assert [each.text for each in house.network.shown] == ["You said after it."]


@in_house()
async def test_signs_that_no_database_takes_keep_no_sentence_from_being_answered(house: House):
    for text in ("/board kit\0chen", "/pair \0\ud800", "a\0b"):
        await house.say(text, sender_name="An\0n\ud800")
    await house.wait_until_delivered()
    assert len(house.texts()) == 3 and "You said a\ufffdb." in house.texts()


@in_house(rules=people.AdmissionRules())
async def test_a_stranger_of_any_name_gets_a_code(house: House):
    await house.say("hi", sender_name="An\0n\ud800")
    await house.wait_for("approve")


@in_house()
async def test_a_message_that_fails_by_an_unknown_error_is_passed_over_after_some_tries(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    is_known, asked = house.store.deliveries.is_known, []

    def fail(mid: str) -> bool:
        asked.append(mid)
        raise ValueError("no such value")

    monkeypatch.setattr(house.store.deliveries, "is_known", fail)
    await house.say("the bad one")
    assert len(asked) == bridge_engine.RECEIVE_TRIES
    assert "passes a message over" in caplog.text and "the bad one" not in caplog.text
    monkeypatch.setattr(house.store.deliveries, "is_known", is_known)
    await house.say("after it")
    await house.wait_until_delivered()
    assert house.texts() == ["You said after it."]


@pytest.mark.parametrize(
    "kind, seed", with_more([("edits-repeatable", 0), ("paragraphs", 1)], product(KINDS, range(20)))
)
@in_house(boards=("garden", "kitchen"), reply_to=partial(reply, length=2))
async def test_many_people_are_answered_once_through_faults_and_kills(house: House, kind: str, seed: int):
    chance, house.network.chance = random.Random(seed), random.Random(seed)
    await house.people.set_group("net:-7", "always")
    said: list[Incoming] = []
    for number in range(24):
        who = str(chance.randrange(4))
        is_group = chance.random() < 0.4
        chat, thread = ("-7", chance.choice(["", "9"])) if is_group else (who, "")
        board = chance.choice(["garden", "kitchen"])
        message = house.message(f"@{board} s{number}", chat, who, thread=thread, is_group=is_group)
        said.append(replace(message, text=f"s{number}"))
        if number % 6 == 3:
            house.steps.kill_at = house.steps.count + chance.randrange(1, 40)
        await house.give(message)
        if chance.random() < 0.3:
            await house.give(message)
        if house.steps.is_dead:
            await house.restart()
    await wait_until_async(
        "all is delivered, or it is dead",
        lambda: house.steps.is_dead or not house.store.deliveries.open_deliveries("home"),
    )
    if house.steps.is_dead:
        await house.restart()
    house.steps.kill_at = 0
    await house.wait_until_delivered()
    check_answers(house, said, 2)
    check_callers(house, said)
