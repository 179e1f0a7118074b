"""Files that the owner sends for /import: who may, how much, how a board is given one, and what survives a stop."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from bridged_house import House, in_house
from engram_host.companion.bridge_types import ChatFile, ChatPlace
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import Attachment
from engram_host.companion.conversations import file_imports
from engram_host.companion.conversations.people import AdmissionRules
from engram_host.companion.conversations.rendering.display import AGAIN
from engram_host.companion.errors import TooManyWaiting
from engram_host.companion.store import CompanionStore
from engram_host.companion.store.bridges import table as rows
from engram_host.companion.types import LOGS, Conversation, Hello, LogState, RetentionLimits, Said, Sender
from extent import extent, with_more
from one_case import in_one_case
from waiting import wait_until_async

Open = Callable[[], CompanionStore]

BIKE, CANOE = b'{"content":"The bike is green"}\n', b'{"content":"The canoe is orange"}\n'
HERE = ChatPlace("home", "1")
NOW = 1_795_000_000


@dataclass
class Memory:
    """What a board does with /import: it stores each content once, and reports as docs/reference/serial.md says."""

    contents: list[str] = field(default_factory=list)
    may_go_on: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: str = ""
    is_damaged: bool = False

    async def take(self, mid: str, caller: Any, text: str, is_command: bool, origin: Any, sink: Any) -> None:
        await sink.on_saved("t1")
        if self.refusal:
            await sink.problem(self.refusal)
        elif text.startswith("/import "):
            await self.may_go_on.wait()
            fields = json.loads(text.removeprefix("/import "))
            is_known = fields["content"] in self.contents
            counts = {"stored": int(not is_known), "there already": int(is_known), "refused": 0}
            if not is_known:
                self.contents.append(fields["content"])
            await sink.line("a sentence for people")
            whole = {"counts": counts, "ids": [], "files": [], "unknown": [], "notes": []}
            await sink.report({"counts": 5} if self.is_damaged else whole)
        else:
            await sink.text(f"You said {text}.")
        await sink.end(SimpleNamespace(turn="t1", reply=""))

    def give_to(self, house: House) -> None:
        for board in house.boards.values():
            board._take = self.take
            board.inbound._take = self.take


def file_of(data: bytes, name: str = "memory.jsonl", size: int | None = None) -> Attachment:
    async def fetch(_most: int) -> bytes:
        return data

    return Attachment("file", name, len(data) if size is None else size, fetch)


async def unfetched(_most: int) -> bytes:
    raise AssertionError("nobody may fetch this")


async def settle(house: House, *, is_waiting: bool = False, **kinds: Any) -> None:
    """Make somebody the owner, and let the board do as a memory does, once it may go on."""
    await house.people.approve("net:1", "Eve")
    await house.people.make_owner("Eve")
    house.memory = Memory(**kinds)
    house.memory.give_to(house)
    if not is_waiting:
        house.memory.may_go_on.set()


def owned(mode: str = "owner", **how: Any) -> Callable[..., Any]:
    """Give a test a settled house."""
    return in_house(rules=AdmissionRules(), prepare=partial(settle, **how), mode=mode)


async def send(house: House, *files: Attachment, text: str = "", chat: str = "1", **more: Any) -> str:
    """Send files; what is said to them."""
    known = len(house.texts(chat))
    await house.say(text, chat, more.pop("sender", chat), attachments=files, **more)
    await wait_until_async("it is answered", lambda: len(house.texts(chat)) > known)
    return house.texts(chat)[-1]


async def begin(house: House, data: bytes) -> None:
    """Send a file, and begin to import it."""
    await send(house, file_of(data))
    await house.say("/import memory.jsonl", "1", "1")


async def ended(house: House) -> None:
    """Wait until nothing is imported any more."""
    await wait_until_async("its task ended", lambda: not house.host._files._running)


# --- what is taken


@pytest.mark.both_databases
@owned()
async def test_a_file_of_the_owner_is_kept_and_imported_line_by_line(house: House):
    said = await send(house, file_of(BIKE + b"{nonsense\n" + BIKE + CANOE))
    assert said == "memory.jsonl is kept (108 bytes): /import memory.jsonl brings it in."
    await house.say("/import memory.jsonl", "1", "1")
    report = await house.wait_for("memory.jsonl: 2 stored", "1")
    assert report.startswith("memory.jsonl: 2 stored, 1 there already, 1 refused\nline 2: ")
    assert house.memory.contents == ["The bike is green", "The canoe is orange"]
    assert house.store.bridges.chat_file(HERE) is None
    kept = [each.said.text for each in house.store.conversations.conversations("kitchen", 99)]
    assert not [text for text in kept if text.startswith("/import")], "answered lines are not kept"


@pytest.mark.parametrize("name", ["list.json", "page.md"])
@owned()
async def test_each_form_that_a_board_imports_is_taken(house: House, name: str):
    data = b'[{"content":"The bike is green"},{"content":"The canoe is orange"}]'
    page = b"- The bike is green\n- The canoe is orange\n"
    await send(house, file_of(page if name == "page.md" else data, name))
    await house.say(f"/import {name}", "1", "1")
    await house.wait_for(f"{name}: 2 stored, 0 refused", "1")
    assert house.memory.contents == ["The bike is green", "The canoe is orange"]


KEPT = "memory.jsonl is kept (32 bytes): /import memory.jsonl brings it in."
NOT_OWNER = "memory.jsonl: files are taken from the owner only, in private."


@pytest.mark.both_databases
@owned()
async def test_a_file_that_is_not_taken_is_refused_in_one_sentence_and_not_fetched(house: House):
    await house.people.approve("net:5", "Ann")
    await house.people.set_group("net:-7", "always")
    file = Attachment("file", "memory.jsonl", 9, unfetched)
    assert await send(house, file, chat="5") == NOT_OWNER
    assert await send(house, file, chat="-7", sender="1", is_group=True) == NOT_OWNER
    refusal = "I cannot read a file plan.pdf: send text, or as the owner a .jsonl, .json or .md file to import."
    assert await send(house, replace(file, name="plan.pdf")) == refusal
    assert "send it in parts" in await send(house, replace(file, size=file_imports.MOST_BYTES + 1))


@owned()
async def test_what_stands_beside_a_file_goes_to_the_board(house: House):
    await house.people.set_group("net:-7", "always")
    await house.say("remember that I moved to Rome", "1", "1", attachments=(file_of(BIKE),))
    await house.wait_for("You said [file memory.jsonl] remember that I moved to Rome.", "1")
    await house.wait_for(KEPT, "1")
    await house.say("", "1", "1", attachments=(Attachment("photo", "", 9, unfetched), file_of(BIKE)))
    await house.wait_for("You said [photo].", "1")
    file = Attachment("file", "memory.jsonl", 9, unfetched)
    await house.say("read this", "-7", "5", attachments=(file,), is_group=True)
    await house.wait_for(NOT_OWNER, "-7")
    await house.wait_for("You said [file memory.jsonl] read this.", "-7")


@owned()
async def test_a_file_is_imported_by_the_command_beside_it(house: House):
    await house.say("/import memory.jsonl", "1", "1", attachments=(file_of(BIKE),))
    await house.wait_for("memory.jsonl: 1 stored, 0 refused", "1")
    assert house.memory.contents == ["The bike is green"] and KEPT in house.texts("1")


@pytest.mark.shortened
@owned()
async def test_a_file_and_its_text_are_answered_after_each_kill(house: House):
    for kill_at in range(1, 9, extent(1, 3)):
        known = len(house.texts("1"))
        house.steps.kill_at = house.steps.count + kill_at
        await house.give(house.message(f"text {kill_at}", "1", "1", attachments=(file_of(BIKE),)))
        await house.restart()
        await house.wait_until_delivered()
        said = [text for text in house.texts("1")[known:] if KEPT in text]
        assert said and sum(not text.startswith(AGAIN) for text in said) <= 1, (kill_at, said)
        given = [each.said.text for each in house.store.conversations.conversations("kitchen", 99)]
        assert given.count(f"[file memory.jsonl] text {kill_at}") == 1


@owned()
async def test_the_files_beside_the_one_that_is_taken_are_named(house: House):
    others = [Attachment("file", name, 9, unfetched) for name in ("b.jsonl", "c.md", "plan.pdf")]
    said = await send(house, file_of(BIKE), *others, Attachment("audio", "", 9, unfetched))
    assert said.splitlines() == [
        KEPT,
        "Only one file of a message is taken: send b.jsonl and c.md separately.",
        "I cannot read plan.pdf and the audio.",
    ]


@owned()
async def test_a_file_is_bounded_whatever_the_network_says_of_its_size(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_imports, "MOST_BYTES", 10)
    for size in (None, 0, 9):
        assert "is longer than 10 bytes" in await send(house, file_of(b"x" * 11, size=size))
        assert house.store.bridges.chat_file(HERE) is None


async def _refused(_most: int) -> bytes:
    raise FileNotFetched("its server does not give it.")


async def _stuck(_most: int) -> bytes:
    await asyncio.get_running_loop().create_future()
    return b""


async def _odd_address(_most: int) -> bytes:
    raise ExceptionGroup("all tries failed", [OverflowError("port must be 0-65535.")])


@owned()
async def test_a_file_that_is_not_to_be_had_is_said_to_be_missing(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_imports, "FETCH_SECONDS", 0.05)
    for fetch, why in (
        (_odd_address, "could not be fetched (ExceptionGroup): send it again."),
        (_refused, "could not be fetched: its server does not give it."),
        (_stuck, "could not be fetched within"),
    ):
        assert why in await send(house, Attachment("file", "memory.jsonl", 9, fetch))


@owned()
async def test_a_file_of_too_many_lines_is_refused(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_imports, "MOST_LINES", 2)
    await begin(house, BIKE * 3)
    await house.wait_for("has 3 lines, and 2 are taken at most", "1")
    assert not house.memory.contents


@owned()
async def test_a_name_that_is_hard_to_type_is_replaced(house: House):
    for name in ("my list.jsonl", ".jsonl", "x" * 65 + ".md", "../config.json", "ä.json"):
        answer = await send(house, file_of(BIKE, name))
        assert f"/import received.{name.rpartition('.')[2]} brings it in" in answer, name


@owned(refusal="there is no file other.md.")
async def test_another_name_is_a_file_of_the_board(house: House):
    await send(house, file_of(BIKE))
    await house.say("/import other.md", "1", "1")
    await house.wait_for("there is no file other.md.", "1")


# --- how it ends


@pytest.mark.shortened
@in_house(rules=AdmissionRules())
async def test_an_import_goes_on_where_it_was_after_each_kill(house: House):
    lines = b"".join(b'{"content":"number %d"}\n' % number for number in range(8))
    for kill_at in range(1, 45, extent(3, 6)):
        await settle(house)
        await send(house, file_of(lines))
        known = len(house.texts("1"))
        house.steps.kill_at = house.steps.count + kill_at
        await house.give(house.message("/import memory.jsonl", "1", "1"))
        await wait_until_async(
            "it is killed, or at its end", lambda: house.steps.is_dead or not house.host._files._running
        )
        await house.restart()
        house.memory.give_to(house)
        await wait_until_async("it is imported", lambda: house.store.bridges.chat_file(HERE) is None)
        await house.wait_until_delivered()
        reports = [text for text in house.texts("1")[known:] if "memory.jsonl: " in text]
        assert house.memory.contents == [f"number {number}" for number in range(8)], kill_at
        outcomes = ("8 stored, 0 refused", "7 stored, 1 there already, 0 refused")
        unmarked = sum(not text.startswith(AGAIN) for text in reports)
        assert unmarked <= 1 <= len(reports) and reports[-1].endswith(outcomes), (kill_at, reports)


@owned("others")
async def test_a_board_that_does_not_take_the_owners_word_stops_the_import_and_says_why(house: House):
    await begin(house, BIKE + CANOE)
    report = await house.wait_for("Stopped at line 1: ", "1")
    assert "does not let its companion speak for the owner" in report and "0 stored, 0 refused" in report


@owned(is_damaged=True)
async def test_a_damaged_report_stops_the_import_and_says_what_to_do(house: House):
    await begin(house, BIKE + CANOE)
    report = await house.wait_for("Stopped at line 1: ", "1")
    assert "was damaged on its way: send the file again" in report


@pytest.mark.both_databases
@owned(is_waiting=True)
async def test_the_owner_stops_an_import_and_others_do_not(house: House):
    await house.people.approve("net:5", "Ann")
    await begin(house, BIKE + CANOE)
    await wait_until_async("it has begun", lambda: house.store.bridges.open_imports("home"))
    await house.say("/import memory.jsonl", "1", "1")
    await house.wait_for("is being imported into kitchen already", "1")
    assert "another file of this chat is being imported" in await send(house, file_of(CANOE, "other.jsonl"))
    await house.say("/cancel", "5")
    await house.wait_for("No answer of yours", "5")
    await house.say("/cancel", "1", "1")
    await house.wait_for("The import of memory.jsonl is stopped after 0 lines; what kitchen stored stays.", "1")
    house.memory.may_go_on.set()
    await ended(house)
    assert house.memory.contents in ([], ["The bike is green"]) and house.store.bridges.chat_file(HERE) is None


@owned()
async def test_no_line_is_given_to_the_board_that_was_cancelled_after_the_one_before(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    save = house.store.bridges.save_import

    def save_and_cancel(*arguments: Any) -> ChatFile | None:
        saved = save(*arguments)
        house.store.bridges.cancel_import(HERE)
        return saved

    monkeypatch.setattr(house.store.bridges, "save_import", save_and_cancel)
    await begin(house, BIKE + CANOE)
    await wait_until_async("it ended", lambda: house.memory.contents and not house.host._files._running)
    assert house.memory.contents == ["The bike is green"]


@owned()
async def test_a_line_that_is_cancelled_while_it_is_being_kept_does_not_wait_for_the_board(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    await house.boards["kitchen"].kill()
    add, added = house.store.conversations.add_conversation, list[str]()

    def add_and_cancel(device: str, said: Said, *arguments: Any) -> Conversation:
        found = add(device, said, *arguments)
        house.store.bridges.cancel_import(HERE)
        added.append(said.mid)
        return found

    monkeypatch.setattr(house.store.conversations, "add_conversation", add_and_cancel)
    await begin(house, BIKE)
    await wait_until_async("it is cancelled", lambda: added and not house.store.conversations.boards_with_messages())
    await ended(house)


def _no_policy_but_off(house: House) -> None:
    house.people.set_rules(AdmissionRules("off"))


def _other_boards(house: House) -> None:
    house.host._board_names = ("garden",)


@pytest.mark.parametrize(
    "end",
    with_more(
        [lambda house: house.people.block("owner"), _other_boards],
        [lambda house: house.people.remove("owner"), _no_policy_but_off],
    ),
)
@owned(is_waiting=True)
async def test_an_import_ends_when_its_sender_may_not_talk_to_the_board_any_more(
    house: House, end: Callable[[House], Any]
):
    await begin(house, BIKE + CANOE)
    await wait_until_async("a line waits", lambda: house.store.conversations.boards_with_messages())
    if work := end(house):
        await work
    house.memory.may_go_on.set()
    await ended(house)
    assert house.memory.contents == ["The bike is green"] and house.store.bridges.chat_file(HERE) is None


@owned()
async def test_after_a_stop_no_line_goes_to_the_board_that_it_had_no_room_for(house: House):
    said = house.service.say
    tries: list[str] = []

    async def is_full(device: str, said: Any) -> Any:
        tries.append(said.mid)
        raise TooManyWaiting(device)

    house.service.say = is_full
    await begin(house, BIKE)
    await wait_until_async("it was tried", lambda: tries)
    await house.say("/cancel", "1", "1")
    await ended(house)
    house.service.say = said
    await house.wait_until_delivered()
    assert not house.memory.contents and not house.store.conversations.boards_with_messages()


@pytest.mark.parametrize("report", ["", "nonsense"], ids=["in the middle", "a damaged report"])
@owned()
async def test_an_import_that_fails_by_an_unknown_error_ends_with_a_report(house: House, report: str):

    async def fail(device: str, said: Any) -> Any:
        row = house.store.bridges.chat_file(HERE)
        assert row
        house.store.bridges.save_import(row, 0, report, "bridge:x")
        raise ZeroDivisionError("a bug")

    house.service.say = fail
    await begin(house, BIKE)
    text = await house.wait_for("memory.jsonl: 0 stored", "1")
    assert text.endswith("Stopped: an error of the companion, see its log.")
    assert house.store.bridges.chat_file(HERE) is None


@owned()
async def test_after_a_stop_while_the_board_is_away_another_file_is_imported(house: House):
    await house.boards["kitchen"].kill()
    await begin(house, BIKE)
    await wait_until_async("a line waits", lambda: house.store.conversations.boards_with_messages())
    await house.say("/cancel", "1", "1")
    await house.wait_for("is stopped after 0 lines", "1")
    await send(house, file_of(CANOE, "other.jsonl"))
    await house.say("/import other.jsonl", "1", "1")
    await house.start_board("kitchen")
    house.memory.give_to(house)
    await house.wait_for("other.jsonl: 1 stored, 0 refused", "1")
    assert house.memory.contents == ["The canoe is orange"]


@owned(is_waiting=True)
async def test_messages_of_others_come_between_the_lines(house: House):
    await house.people.approve("net:5", "Ann")
    await begin(house, BIKE + CANOE)
    await wait_until_async("a line is there", lambda: house.store.conversations.boards_with_messages())
    await house.say("hi")
    house.memory.may_go_on.set()
    await house.wait_for("You said hi.")
    await house.wait_for("2 stored", "1")
    assert not house.store.conversations.boards_with_messages()


# --- rows


def kept(chat: str, at: int = NOW, **more: Any) -> ChatFile:
    return ChatFile(ChatPlace("home", chat), "memory.jsonl", BIKE, at, **more)


@pytest.mark.both_databases
def test_files_are_bounded_and_one_that_is_imported_stays(store: CompanionStore, monkeypatch: pytest.MonkeyPatch):
    assert rows.MOST_FILES * file_imports.MOST_BYTES <= 16 << 20
    monkeypatch.setattr(rows, "MOST_FILES", 2)
    assert store.bridges.add_chat_file(kept("0")) and store.bridges.begin_import(
        kept("0", device="kitchen", mid="bridge:1")
    )
    for number in range(1, 5):
        assert store.bridges.add_chat_file(kept(f"{number}", NOW + number))
    found = [store.bridges.chat_file(ChatPlace("home", f"{number}")) is not None for number in range(5)]
    assert found == [True, False, False, True, True]
    assert not store.bridges.add_chat_file(kept("0")) and store.bridges.add_chat_file(kept("4", NOW + 9))
    store.removal.expire(RetentionLimits(), NOW + 9 + 86400)
    found = [store.bridges.chat_file(ChatPlace("home", f"{number}")) is not None for number in range(5)]
    assert found == [True, False, False, False, True]


def test_a_file_is_there_after_a_restart_as_it_came(store: CompanionStore, open_store: Open):
    file = replace(kept("1"), data=bytes(range(256)))
    store.bridges.add_chat_file(file)
    begun = replace(file, device="kitchen", mid="bridge:1", message="m1", ref="net:1", room="net 1")
    assert store.bridges.begin_import(begun) and not store.bridges.begin_import(begun)
    assert store.bridges.save_import(begun, 3, '{"a":1}', "bridge:1.3") == replace(begun, answered=3, report='{"a":1}')
    assert open_store().bridges.open_imports("home") == [replace(begun, answered=3, report='{"a":1}')]


@pytest.mark.both_databases
@in_one_case("how", ["forgotten bridge", "erased board", "group"])
def test_a_file_goes_with_what_it_belongs_to(store: CompanionStore, how: str):
    store.replication.greet(Hello("kitchen", Sender("b1", 3, 9), 0, {name: LogState(7, 1, 1, 0) for name in LOGS}), NOW)
    store.bridges.add_chat_file(kept("1"))
    store.bridges.begin_import(kept("1", device="kitchen", mid="bridge:1"))
    if how == "forgotten bridge":
        store.bridges.forget_bridge("home")
    elif how == "erased board":
        store.removal.erase_board("kitchen")
    else:
        assert store.deliveries.is_kept_as_private("home", "1")
        store.deliveries.note_group("home", "1", NOW)
    assert (
        store.bridges.chat_file(HERE) is None
        and store.bridges.save_import(kept("1", device="kitchen", mid="bridge:1"), 1, "", "") is None
    )
