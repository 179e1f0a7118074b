"""The engine of bridges, with a network that works: what people say reaches the right board, and how its answer is shown."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bridged_house import House, Unwatched, in_house
from engram.channels.people import LET_IN
from engram_host.companion.bridges.errors import SendUncertain
from engram_host.companion.bridges.network import Attachment, Chat
from engram_host.companion.conversations import service as conversations
from engram_host.companion.conversations.chat_messages import GREETING
from engram_host.companion.conversations.display import AGAIN
from engram_host.companion.conversations.people import AdmissionRules
from engram_host.companion.errors import StoreUnavailable
from extent import matrix
from faulty_network import EDITED
from waiting import wait_until_async

# --- private chats, groups, threads


@in_house(rules=AdmissionRules(rate=2))
async def test_a_message_that_could_not_be_kept_is_taken_however_often_it_comes(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    await house.people.approve("net:5")
    message = house.message("remember the milk")
    with monkeypatch.context() as patch:
        patch.setattr(house.store.deliveries, "add_message", _disk_full)
        for _ in range(4):
            with pytest.raises(StoreUnavailable):
                await house.host.receive(message)
    await house.host.receive(message)
    await house.wait_until_delivered()
    assert house.texts() == ["You said remember the milk."]


def _disk_full(*_values: object) -> None:
    raise StoreUnavailable("the disk is full.")


@in_house(rules=AdmissionRules(rate=3))
async def test_a_message_that_comes_again_changes_nothing_and_counts_once(house: House):
    await house.people.approve("net:5")
    message = await house.say("one")
    await asyncio.gather(*(house.host.receive(message) for _ in range(4)))
    message = house.message("two")
    await asyncio.gather(*(house.host.receive(message) for _ in range(2)))
    await house.say("three")
    await house.wait_until_delivered()
    await house.host.receive(message)
    await house.host.receive(replace(message, text="/board kitchen"))
    await house.wait_until_delivered()
    assert house.texts() == ["You said one.", "You said two.", "You said three."]
    assert len(house.boards["kitchen"].journal) == 3


@in_house()
async def test_a_group_and_a_thread_have_rooms_of_their_own_and_the_answer_refers_to_the_message(house: House):
    await house.people.set_group("net:-7", "mention")
    await house.say("not for the board", "-7", is_group=True, is_mentioned=False)
    first = await house.say("in the group", "-7", is_group=True)
    await house.say("in the thread", "-7", is_group=True, thread="9")
    await house.wait_until_delivered()
    assert house.texts("-7") == ["You said in the group."]
    assert [each.reply_to for each in house.network.shown if not each.chat.thread] == [first.id]
    assert house.texts("-7", "9") == ["You said in the thread."]
    callers = [(each.room, each.group) for each in house.boards["kitchen"].callers.values()]
    assert callers == [("link net -7", True), ("link net -7 9", True)]


@in_house(rules=AdmissionRules())
async def test_a_stranger_is_sent_a_code_and_reads_that_he_is_let_in(house: House):
    await house.say("let me in")
    await house.wait_for("/pair ")
    (request,) = await house.people.waiting()
    await house.wait_until_delivered()
    assert not house.boards["kitchen"].journal
    await house.people.approve(request.code, "Ann")
    await house.wait_for(LET_IN)
    await house.say("hi")
    await house.wait_until_delivered()
    assert house.texts()[1:] == [LET_IN, "You said hi."]
    assert [each.principal for each in house.boards["kitchen"].callers.values()] == ["Ann"]


@pytest.mark.parametrize("kind", ["edits", "edits-repeatable"])
@in_house(rules=AdmissionRules())
async def test_a_code_that_may_have_arrived_is_repeated_once_and_says_so_where_it_may_be_shown_twice(
    house: House, kind: str
):
    house.network.fail_next = [SendUncertain("lost.")]
    await house.say("let me in")
    assert (await house.wait_for("/pair ")).startswith(AGAIN) is (kind == "edits")


@in_house(rules=AdmissionRules())
async def test_a_code_whose_bridge_ended_before_it_was_sent_goes_with_the_strangers_next_message(house: House):
    house.network.is_away = True
    await house.say("let me in")
    await house.restart_engine()
    house.network.is_away = False
    await house.say("hello?")
    await house.wait_for("/pair ")


# --- several boards


@in_house(boards=("garden", "kitchen"))
async def test_with_several_boards_one_is_named_chosen_or_asked_for(house: House):
    async def answer(text: str) -> str:
        await house.say(text)
        await house.wait_until_delivered()
        return house.texts()[-1]

    assert "Which board? There are garden, kitchen." in await answer("hi")
    assert await answer("@kitchen hi") == "You said hi."
    assert await answer("@Garden: hello") == "You said hello."
    assert await answer("/board kitchen") == "kitchen answers in this chat from now on."
    assert await answer("to the kitchen") == "You said to the kitchen."
    assert await answer("/board") == "kitchen answers in this chat."
    assert "There is no board attic here." in await answer("/board attic")
    assert await answer("/boards") == "The boards are garden and kitchen."
    assert await answer("@nobody hi") == "You said @nobody hi."
    journals = {name: [entry[0] for entry in board.journal.values()] for name, board in house.boards.items()}
    assert journals == {"garden": ["hello"], "kitchen": ["hi", "to the kitchen", "@nobody hi"]}


@in_house(boards=("garden", "kitchen"))
async def test_a_bridge_may_have_boards_of_its_own(house: House):
    house.settings = replace(house.settings, boards=("garden",))
    await house.stop()
    await house.start()
    await house.say("hi")
    await house.say("@kitchen hi")
    await house.wait_until_delivered()
    assert house.texts() == ["You said hi.", "You said @kitchen hi."] and not house.boards["kitchen"].journal


# --- commands


@in_house(replace(EDITED, command_signs="/!"))
async def test_commands_reach_the_board_with_any_sign_and_new_begins_a_session(house: House):
    for text in ("/Recall Bike", "!recall two", "/new", "!new Plans", "!!!", "/ no"):
        await house.say(text)
    await house.wait_until_delivered()
    said = [entry[0] for entry in house.boards["kitchen"].journal.values()]
    assert said == ["/recall Bike", "/recall two", "/session new", "/session new Plans", "!!!", "/ no"]
    assert [each.is_plain for each in house.network.shown] == [True] * 4 + [False] * 2


@in_house(rules=AdmissionRules())
async def test_people_are_let_in_by_the_owner_in_private_only(house: House):
    await house.people.set_group("net:-7", "always")
    for ref, name in (("net:1", "Eve"), ("net:5", "Bob")):
        await house.people.approve(ref, name)
    await house.people.make_owner("Eve")
    await house.say("hello", "6", "6")
    await house.wait_for("/pair ", "6")
    (request,) = await house.people.waiting()
    for chat, sender in (("5", "5"), ("-7", "1")):
        await house.say(f"/pair {request.code}", chat, sender, is_group=chat == "-7")
        await house.wait_for("only the owner can do that, in private", chat)
    await house.say(f"/pair {request.code} Cat", "1", "1")
    assert await house.wait_for("Cat", "1") == "Cat may talk now: net:6"
    assert not house.boards["kitchen"].journal


@in_house()
async def test_an_answer_is_cancelled_by_who_asked(house: House):
    slow = Slow()
    slow.board(house)
    slow.give("word ")
    await house.people.set_group("net:-7", "always")
    await house.say("hi", "-7", is_group=True)
    await house.wait_for("word", "-7")
    await house.say("/cancel", "-7", "6", is_group=True)
    await house.wait_for("No answer of yours", "-7")
    await house.say("/cancel", "-7", is_group=True)
    await house.wait_for("1 answer is cancelled", "-7")
    await house.wait_until_delivered()
    assert any("the answer was cancelled" in text for text in house.texts("-7"))


# --- what is no text


@in_house()
async def test_a_photo_is_kept_with_its_caption_and_other_files_are_refused_by_name(house: House):
    photo, file = Attachment("photo"), Attachment("file", "plan.pdf", 9)
    for text, files in (("", (photo,)), ("my bike", (photo,)), ("", (file,)), ("look", (file,)), ("", ())):
        await house.say(text, attachments=files)
    await house.wait_until_delivered()
    said = [entry[0] for entry in house.boards["kitchen"].journal.values()]
    assert said == ["[photo]", "[photo] my bike", "[file plan.pdf] look"]
    assert any(text.startswith("I cannot read a file plan.pdf:") for text in house.texts())
    assert GREETING in house.texts()


@in_house()
async def test_what_a_board_cannot_take_is_refused_in_a_sentence(house: House):
    await house.say("x" * 8001)
    assert "must have 1 to 8000 characters" in await house.wait_for("8000")
    await house.say("/note a\nb")
    assert "is one line" in await house.wait_for("one line")


# --- how an answer is shown


class Slow:
    """A reply of which a piece comes whenever a test lets it; whoever asks again, as after a lost link, gets all of them."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._added = asyncio.Event()

    def give(self, piece: str) -> None:
        """Let a piece come; "" is the end."""
        self._pieces.append(piece)
        self._added.set()

    def board(self, house: House) -> None:
        async def take(mid: str, caller: Any, text: str, is_command: bool, origin: Any, sink: Any) -> None:
            await sink.on_saved("t1")
            given = 0
            while "" not in self._pieces[:given]:
                if given == len(self._pieces):
                    self._added.clear()
                    await self._added.wait()
                if piece := self._pieces[given]:
                    await sink.text(piece)
                given += 1
            await sink.end(None)

        house.boards["kitchen"]._take = take  # pyright: ignore[reportAttributeAccessIssue]
        house.boards["kitchen"].inbound._take = take  # pyright: ignore[reportAttributeAccessIssue]


@in_house()
async def test_an_answer_streams_into_one_message_and_typing_is_shown_until_it_begins(house: House):
    slow = Slow()
    slow.board(house)
    await house.say("hi")
    await wait_until_async("it types", lambda: ("5", True) in house.network.signs)
    signs = 0
    for text in ("Milk", "Milk and ", "Milk and bread."):
        slow.give(text.removeprefix("Milk and ") if "bread" in text else text.removeprefix("Milk") or text)
        await wait_until_async("it streams", lambda text=text: house.texts() == [text.strip()])
        signs = len(house.network.signs)
    slow.give("")
    await house.wait_until_delivered()
    assert len(house.network.shown) == 1 and len(house.network.signs) == signs


@in_house()
async def test_a_board_that_is_away_is_told_once_and_its_answer_comes_when_it_is_back(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(conversations, "AWAY_SECONDS", 0.0)
    await house.boards["kitchen"].kill()
    await house.say("hi")
    await house.wait_for("kitchen is away: the message is kept")
    await house.restart_engine()
    await house.start_board("kitchen")
    await house.wait_until_delivered()
    assert [text[:15] for text in house.texts()] == ["kitchen is away", "You said hi."]


@in_house()
async def test_an_answer_to_an_old_message_says_how_old_it_is(house: House):
    await house.say("hi", at=house.now() - 3 * 3600)
    assert await house.wait_for("You said") == "(An answer from 3 h ago.)\nYou said hi."


@pytest.mark.both_databases
@in_house()
async def test_what_a_board_begins_to_say_comes_once_to_the_chat_of_its_room(house: House):
    await house.say("hi")
    await house.say("hi", "6", "6")
    await house.wait_until_delivered()
    for _ in range(2):
        await house.push("kitchen", "net 5", "It rains.", "push:1:t9")
    await house.push("kitchen", "net 77", "Nobody is there.", "push:1:t10")
    await house.wait_for("It rains.")
    await house.wait_until_known()
    await house.restart()
    await house.wait_until_delivered()
    assert sum("It rains." in text for text in house.texts()) == 1
    assert house.texts("6") == ["You said hi."]


# --- who may not hear any more


async def _lose(house: House, how: str) -> None:
    """Let nobody of the chat be one who may hear boards."""
    if how == "blocked":
        await house.people.block("ann")
    elif how == "removed":
        await house.people.remove("ann")
    else:
        await house.people.set_group("net:-7", "off")


@pytest.mark.parametrize("how, when", matrix(["blocked", "removed", "closed"], ["before", "while it waits"]))
@in_house(rules=AdmissionRules())
async def test_who_may_talk_no_more_hears_nothing_more(house: House, how: str, when: str):
    network = house.network
    chat = "-7" if how == "closed" else "5"
    await house.people.approve("net:5", "ann")
    await house.people.approve("net:6", "bob")
    await house.people.set_group("net:-7", "always")
    await house.say("hi", "6", "6")
    await house.say("hi", chat, is_group=how == "closed")
    await house.wait_until_delivered()
    shown = house.texts(chat)
    if when == "before":
        await _lose(house, how)
        await house.push("kitchen", f"net {chat}", "It rains.", "push:1:t9")
    else:
        network.is_away = True
        await house.push("kitchen", f"net {chat}", "It rains.", "push:1:t9")
        await house.say("one more", chat, is_group=how == "closed")
        await wait_until_async("both are owed", lambda: len(house.store.deliveries.open_deliveries("home")) == 2)
        await _lose(house, how)
        await house.wait_until_delivered()
        network.is_away = False
    if how == "removed":
        await house.say("let me in")
        await house.push("kitchen", "net 5", "It pours.", "push:1:t11")
    await house.push("kitchen", "net 6", "It snows.", "push:1:t10")
    await house.wait_for("It snows.", "6")
    await house.wait_until_delivered()
    assert sum("/pair " in text for text in house.texts(chat)) == (how == "removed")
    assert [text for text in house.texts(chat) if "/pair " not in text] == shown


@in_house(rules=AdmissionRules())
async def test_an_answer_to_who_is_blocked_in_an_open_group_is_dropped(house: House):
    network = house.network
    await house.people.set_group("net:-7", "always")
    network.is_away = True
    await house.say("hi", "-7", "5", is_group=True)
    await house.say("hello", "-7", "6", is_group=True)
    await house.people.block("net:5")
    await wait_until_async("one is owed", lambda: house.host.owed == 1)
    network.is_away = False
    await house.wait_until_delivered()
    assert house.texts("-7") == ["You said hello."]


@pytest.mark.parametrize("mode", ["off", "always"])
@in_house(rules=AdmissionRules())
async def test_what_was_owed_to_a_private_chat_is_not_shown_to_the_group_that_it_became(house: House, mode: str):
    network = house.network
    await house.people.approve("net:5", "ann")
    await house.say("hi", "!r")
    await house.wait_until_delivered()
    network.is_away = True
    await house.say("a secret", "!r")
    await house.push("kitchen", "net !r", "A private reminder.", "push:1:t9")
    await wait_until_async("both are owed", lambda: len(house.store.deliveries.open_deliveries("home")) == 2)
    if mode != "off":
        await house.people.set_group("net:!r", mode)
    await house.say("hello", "!r", "6", is_group=True)
    await wait_until_async("the group's alone is owed", lambda: house.host.owed == (mode != "off"))
    network.is_away = False
    await house.wait_until_delivered()
    assert house.texts("!r") == ["You said hi.", *(["You said hello."] if mode != "off" else [])]


async def check_nothing_private_comes_later(house: House) -> None:
    """The board begins to say something in a room that was private, and in Ann's chat: only the latter gets it."""
    await house.push("kitchen", "net !r", "A private reminder.", "push:1:t9")
    await house.push("kitchen", "net 5", "It rains.", "push:1:t10")
    await house.wait_for("It rains.")
    await house.wait_until_delivered()
    assert house.texts("!r") == ["You said hi."]


@in_house(rules=AdmissionRules())
async def test_who_comes_into_a_private_chat_and_says_nothing_reads_nothing_that_was_owed(house: House):
    network = house.network
    await house.people.approve("net:5", "ann")
    await house.say("hi", "!r")
    await house.say("hi")
    await house.wait_until_delivered()
    network.is_away = True
    await house.say("a secret", "!r")
    await wait_until_async("it is owed", lambda: len(house.store.deliveries.open_deliveries("home")) == 1)
    await house.host.note_members(Chat("!r", is_group=True))
    network.is_away = False
    await check_nothing_private_comes_later(house)


@in_house(rules=AdmissionRules())
async def test_what_a_board_begins_to_say_later_asks_whether_the_group_is_open(house: House):
    await house.people.approve("net:5", "ann")
    await house.say("hi", "!r")
    await house.say("hi")
    await house.wait_until_delivered()
    await house.say("hello", "!r", "6", is_group=True)
    await check_nothing_private_comes_later(house)


@in_house()
async def test_a_message_of_another_account_is_none_of_the_former_ones_with_the_same_id(house: House):
    await house.host.claim("7")
    message = await house.say("hi")
    await house.wait_until_delivered()
    house.network.is_away = True
    await house.say("for the former account")
    await house.host.save_mark("s1")
    await wait_until_async("it is answered", lambda: not house.store.conversations.boards_with_messages())
    await house.engine.detach("home")
    house.host = house.engine.attach(house.settings, house.network, Unwatched())
    house.network.is_away = False
    await house.host.claim("8")
    house.host.connected("engram")
    assert await house.host.load_mark() == ""
    await house.host.receive(replace(message, text="hello"))
    await house.wait_until_delivered()
    assert house.texts() == ["You said hi.", "You said hello."]
