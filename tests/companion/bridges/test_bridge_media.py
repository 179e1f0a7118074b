"""Photos and sounds that come through bridges: fetched within bounds, kept for who sent them, named in what the board gets."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import media_samples as samples
from bridged_house import House, living, make_haste, play
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import Attachment, FileFetch
from engram_host.companion.conversations import attached_media
from engram_host.companion.conversations.people import AdmissionRules
from engram_host.companion.errors import StoreUnavailable
from engram_host.companion.store import CompanionStore
from faulty_network import FaultyNetwork
from waiting import wait_until_async

Open = Callable[[], CompanionStore]
PHOTO = samples.png(3)
NAMED = r"\[photo, media/([0-9a-f]{16})\]"


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch: pytest.MonkeyPatch):
    make_haste(monkeypatch)


def given(data: bytes) -> FileFetch:
    async def fetch(most: int) -> bytes:
        return data[: most + 10]

    return fetch


async def unfetched(_most: int) -> bytes:
    raise AssertionError("nobody may fetch this")


@asynccontextmanager
async def house_at(open_store: Open, home: Path) -> AsyncIterator[House]:
    async with living(open_store, FaultyNetwork(), media_home=home) as house:
        yield house


async def said_with(house: House, text: str, *files: Attachment, chat: str = "5", **more: object) -> str:
    """What the board is given of a message with files."""
    known = len(house.texts(chat))
    await house.say(text, chat, chat, attachments=files, **more)
    await wait_until_async("it is answered", lambda: len(house.texts(chat)) > known)
    return house.store.conversations("kitchen", 1)[0].said.text


def test_a_photo_is_kept_for_who_sent_it_and_named_before_its_caption(open_store: Open, tmp_path: Path):
    async def work() -> None:
        async with house_at(open_store, tmp_path) as house:
            said = await said_with(house, "my bike", Attachment("photo", "", len(PHOTO), given(PHOTO)))
            found = re.fullmatch(NAMED + " my bike", said)
            assert found, said
            assert house.media
            kept = await house.media.find("kitchen", found[1])
            principal = house.store.conversations("kitchen", 1)[0].said.principal
            assert (kept.type, kept.scope) == ("image/png", f"user:{principal}")
            assert await house.media.read(kept) == PHOTO
            only = await said_with(house, "", Attachment("photo", "", 0, given(samples.JPEG)))
            assert re.fullmatch(NAMED, only), only

    play(work)


def test_a_sound_with_words_is_kept_and_one_without_is_refused_as_before(open_store: Open, tmp_path: Path):
    async def work() -> None:
        async with house_at(open_store, tmp_path) as house:
            said = await said_with(house, "listen", Attachment("audio", "bell.ogg", 9, given(samples.OGG)))
            assert re.fullmatch(r"\[audio bell\.ogg, media/[0-9a-f]{16}\] listen", said), said
            await house.say("", attachments=(Attachment("audio", "bell.ogg", 9, unfetched),))
            await house.wait_for("I cannot read an audio file bell.ogg", "5")

    play(work)


async def unreachable(_most: int) -> bytes:
    raise FileNotFetched("it is gone.")


async def odd(_most: int) -> bytes:
    raise KeyError("what a library raises")


async def never(_most: int) -> bytes:
    await asyncio.get_running_loop().create_future()
    return b""


NOT_KEPT: dict[str, tuple[FileFetch | None, int]] = {
    "said to be too large": (unfetched, 1 << 30),
    "too large": (given(PHOTO + bytes(9 << 20)), 0),
    "no photo": (given(b"<svg onload=alert(1)>"), 20),
    "gone": (unreachable, 9),
    "a library's error": (odd, 9),
    "never comes": (never, 9),
    "no way to it": (None, 9),
}


def test_a_photo_that_cannot_be_kept_leaves_its_caption(
    open_store: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(attached_media, "FETCH_SECONDS", 0.2)

    async def work() -> None:
        async with house_at(open_store, tmp_path) as house:
            for name, (fetch, size) in NOT_KEPT.items():
                assert await said_with(house, name, Attachment("photo", "", size, fetch)) == f"[photo] {name}"
                assert house.store.boards_with_media() == [], name

    play(work)


def test_some_photos_of_a_message_are_kept_and_no_more(open_store: Open, tmp_path: Path):
    async def work() -> None:
        async with house_at(open_store, tmp_path) as house:
            files = [Attachment("photo", "", 9, given(samples.png(shade))) for shade in range(6)]
            said = await said_with(house, "six", *files)
            assert len(re.findall(NAMED, said)) == attached_media.MOST_OF_MESSAGE and said.count("[photo]") == 2

    play(work)


def test_an_address_that_the_sender_wrote_is_fetched_for_the_owner_in_private_only(open_store: Open, tmp_path: Path):
    async def work() -> None:
        async with house_at(open_store, tmp_path) as house:
            link = Attachment("photo", "", 9, unfetched, is_link=True)
            assert await said_with(house, "look", link) == "[photo] look"
            await house.people.approve("net:5", "Eve")
            await house.people.make_owner("Eve")
            kept = await said_with(house, "look", Attachment("photo", "", 9, given(PHOTO), is_link=True))
            assert re.fullmatch(NAMED + " look", kept)

    play(work)


def test_a_command_fetches_nothing(open_store: Open, tmp_path: Path):
    async def work() -> None:
        async with house_at(open_store, tmp_path) as house:
            await house.say("/recall bike", attachments=(Attachment("photo", "", 9, unfetched),))
            await wait_until_async("it is answered", lambda: bool(house.texts("5")))

    play(work)


def test_a_photo_that_comes_again_after_a_failed_write_is_kept_once(open_store: Open, tmp_path: Path):
    async def work() -> None:
        async with house_at(open_store, tmp_path) as house:
            message = house.message("my bike", attachments=(Attachment("photo", "", 9, given(PHOTO)),))
            keep = house.store.add_message

            def failing(*_: object) -> None:
                house.store.add_message = keep  # pyright: ignore[reportAttributeAccessIssue]
                raise StoreUnavailable("the disk is full.")

            house.store.add_message = failing  # pyright: ignore[reportAttributeAccessIssue]
            with pytest.raises(StoreUnavailable):
                await house.host.receive(message)
            await house.host.receive(message)
            await house.host.receive(message)
            await wait_until_async("it is answered", lambda: bool(house.texts("5")))
            assert len(house.store.list_media("kitchen", 9)) == len(house.store.conversations("kitchen", 9)) == 1

    play(work)


def test_a_stranger_has_nothing_fetched(open_store: Open, tmp_path: Path):
    async def work() -> None:
        async with living(open_store, FaultyNetwork(), AdmissionRules(), media_home=tmp_path) as house:
            await house.say("hello", attachments=(Attachment("photo", "", 9, unfetched),))
            await wait_until_async("it is answered", lambda: bool(house.texts("5")))
            assert house.store.boards_with_media() == []

    play(work)
