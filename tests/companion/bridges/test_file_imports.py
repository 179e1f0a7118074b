"""Files that people send in chats: who may import one, what is taken, and what is said about it."""

import asyncio
from typing import Any

import pytest

from bridged_house import House, in_house
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import Attachment
from engram_host.companion.conversations import chat_messages
from engram_host.companion.conversations.people import AdmissionRules
from engram_host.companion.imports.chat_imports import ChatImports
from engram_host.companion.imports.files import ImportStatus
from waiting import wait_until_async

BIKE = b'{"content":"The bike is green"}\n'
KEPT = "memory.jsonl is kept for kitchen (1 line): /import memory.jsonl brings it in."


class Imports:
    """An ImportService for chats, with imports that end when a test says so."""

    def __init__(self) -> None:
        self.kept: list[ImportStatus] = []

    async def preview(self, device: str, name: str, data: bytes) -> ImportStatus:
        self.kept.append(ImportStatus(f"{len(self.kept)}", device, name, 0, total=data.count(b"\n")))
        return self.kept[-1]

    async def list_imports(self, device: str) -> list[ImportStatus]:
        return [each for each in reversed(self.kept) if each.device == device]

    async def find(self, _device: str, import_id: str) -> ImportStatus:
        return self.kept[int(import_id)]

    async def begin(self, device: str, import_id: str) -> ImportStatus:
        status = await self.find(device, import_id)
        status.state = "running"
        return status

    async def cancel(self, device: str, import_id: str) -> None:
        (await self.find(device, import_id)).state = "cancelled"


IMPORTS: Any = Imports()


async def settle(house: House) -> None:
    """Let `1` be the owner, and `5` somebody who may talk."""
    IMPORTS.kept.clear()
    await house.people.approve("net:1", "Eve")
    await house.people.make_owner("Eve")
    await house.people.approve("net:5", "Ann")
    await house.people.set_group("net:-7", "always")


owned = in_house(rules=AdmissionRules(), imports=ChatImports(IMPORTS), prepare=settle)


async def send(house: House, *files: Attachment, text: str = "", chat: str = "1", **more: Any) -> str:
    """Send files; what is said to them."""
    known = len(house.texts(chat))
    await house.say(text, chat, more.pop("sender", chat), attachments=files, **more)
    await wait_until_async("it is answered", lambda: len(house.texts(chat)) > known)
    return house.texts(chat)[-1]


def file_of(data: bytes = BIKE, name: str = "memory.jsonl", size: int = 0) -> Attachment:
    async def fetch(_most: int) -> bytes:
        return data

    return Attachment("file", name, size or len(data), fetch)


async def unfetched(_most: int) -> bytes:
    raise AssertionError("nobody may fetch this")


@owned
async def test_a_file_of_the_owner_is_imported_on_command_and_reported(house: House):
    assert await send(house, file_of()) == KEPT
    said = await send(house, text="/import memory.jsonl")
    assert said == "kitchen is given memory.jsonl: its report follows. /cancel stops it."
    status = IMPORTS.kept[0]
    status.count("stored")
    status.refuse(2, "it has no content.")
    status.state = "done"
    report = await house.wait_for("1 stored", "1")
    assert report == "memory.jsonl: 1 stored, 1 refused\nline 2: it has no content."
    assert not house.boards["kitchen"].journal


@owned
async def test_the_caption_of_a_file_may_be_the_command_that_imports_it(house: House):
    await send(house, file_of(), text="/import memory.jsonl")
    await house.wait_for(KEPT, "1")
    await house.wait_for("is given memory.jsonl", "1")


@owned
async def test_an_import_is_reported_after_its_bridge_has_connected_again(house: House):
    await send(house, file_of())
    await send(house, text="/import memory.jsonl")
    await house.restart_engine()
    IMPORTS.kept[0].state = "done"
    await house.wait_for("memory.jsonl: nothing new", "1")


@owned
async def test_an_import_is_cancelled_in_its_chat(house: House):
    await send(house, file_of())
    await send(house, text="/import memory.jsonl")
    await send(house, text="/cancel")
    await house.wait_for("The import of memory.jsonl stops after 0 lines; these stay.", "1")
    await house.wait_for("memory.jsonl: nothing new (cancelled)", "1")


@pytest.mark.parametrize("chat", ["5", "-7"])
@owned
async def test_a_file_of_somebody_else_or_in_a_group_is_refused_and_not_fetched(house: House, chat: str):
    file = Attachment("file", "memory.jsonl", 9, unfetched)
    said = await send(house, file, chat=chat, sender="1" if chat == "-7" else "5", is_group=chat == "-7")
    assert said == "memory.jsonl: files are taken from the owner only, in private."


@owned
async def test_each_file_of_a_message_is_answered_and_its_text_goes_to_the_board(house: House):
    files = file_of(), Attachment("file", "plan.pdf", 9, unfetched), file_of(name="b.md")
    await send(house, *files, text="look at these")
    said = await house.wait_for("is kept", "1")
    assert said.splitlines()[:2] == [KEPT, "I cannot read plan.pdf."] and "/import b.md" in said
    await house.wait_for("You said [file memory.jsonl] [file plan.pdf] [file b.md] look at these.", "1")


@pytest.mark.parametrize("size", [0, 1_000_001])
@owned
async def test_a_file_is_bounded_whatever_the_network_says_of_its_size(house: House, size: int):
    assert "is longer than 1000000 bytes" in await send(house, file_of(b"x" * 1_000_001, size=size))
    assert IMPORTS.kept == []


@owned
async def test_a_file_that_is_not_to_be_had_is_said_to_be_missing(house: House, monkeypatch: pytest.MonkeyPatch):
    async def refused(_most: int) -> bytes:
        raise FileNotFetched("its server does not give it.")

    async def stuck(_most: int) -> bytes:
        return await asyncio.get_running_loop().create_future()

    async def odd(_most: int) -> bytes:
        raise ExceptionGroup("all tries failed", [OverflowError("port must be 0-65535.")])

    monkeypatch.setattr(chat_messages, "FETCH_SECONDS", 0.05)

    for fetch, why in ((refused, "its server does not give it."), (stuck, "took too long"), (odd, "all tries")):
        assert why in await send(house, Attachment("file", "memory.jsonl", 9, fetch))
