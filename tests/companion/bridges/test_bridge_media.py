"""Photos and sounds that come through bridges: fetched within bounds, kept for who sent them, named in what the board gets."""

import asyncio
import re

import pytest

import media_samples as samples
from bridged_house import House, in_house
from engram_host.companion.bridges.errors import FileNotFetched
from engram_host.companion.bridges.network import Attachment, FileFetch
from engram_host.companion.conversations import chat_messages
from engram_host.companion.conversations.people import AdmissionRules
from engram_host.companion.errors import StoreUnavailable
from waiting import wait_until_async

PHOTO = samples.png(3)
NAMED = r"\[photo, media/([0-9a-f]{16})\]"


def given(data: bytes) -> FileFetch:
    async def fetch(most: int) -> bytes:
        return data[: most + 10]

    return fetch


async def unfetched(_most: int) -> bytes:
    raise AssertionError("nobody may fetch this")


async def said_with(house: House, text: str, *files: Attachment, chat: str = "5", **more: object) -> str:
    """What the board is given of a message with files."""
    known = len(house.texts(chat))
    await house.say(text, chat, chat, attachments=files, **more)
    await wait_until_async("it is answered", lambda: len(house.texts(chat)) > known)
    return house.store.conversations.conversations("kitchen", 1)[0].said.text


@in_house(has_media=True)
async def test_a_photo_is_kept_for_who_sent_it_and_named_before_its_caption(house: House):
    said = await said_with(house, "my bike", Attachment("photo", "", len(PHOTO), given(PHOTO)))
    found = re.fullmatch(NAMED + " my bike", said)
    assert found, said
    media = house.parts.media
    assert media
    kept = await media.find("kitchen", found[1])
    principal = house.store.conversations.conversations("kitchen", 1)[0].said.principal
    assert (kept.type, kept.scope) == ("image/png", f"user:{principal}")
    assert await media.read(kept) == PHOTO
    only = await said_with(house, "", Attachment("photo", "", 0, given(samples.JPEG)))
    assert re.fullmatch(NAMED, only), only


@in_house(has_media=True)
async def test_a_sound_with_words_is_kept_and_one_without_is_refused_as_before(house: House):
    said = await said_with(house, "listen", Attachment("audio", "bell.ogg", 9, given(samples.OGG)))
    assert re.fullmatch(r"\[audio bell\.ogg, media/[0-9a-f]{16}\] listen", said), said
    await house.say("", attachments=(Attachment("audio", "bell.ogg", 9, unfetched),))
    await house.wait_for("I cannot read an audio file bell.ogg", "5")


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


@in_house(has_media=True)
async def test_a_photo_that_cannot_be_kept_leaves_its_caption(house: House, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat_messages, "FETCH_SECONDS", 0.2)
    for name, (fetch, size) in NOT_KEPT.items():
        assert await said_with(house, name, Attachment("photo", "", size, fetch)) == f"[photo] {name}"
        assert house.store.media.boards_with_media() == [], name


@in_house(has_media=True)
async def test_some_photos_of_a_message_are_kept_and_no_more(house: House):
    files = [Attachment("photo", "", 9, given(samples.png(shade))) for shade in range(6)]
    said = await said_with(house, "six", *files)
    assert len(re.findall(NAMED, said)) == chat_messages.MOST_OF_MESSAGE and said.count("[photo]") == 2


@in_house(has_media=True)
async def test_an_address_that_the_sender_wrote_is_fetched_for_the_owner_in_private_only(house: House):
    link = Attachment("photo", "", 9, unfetched, is_link=True)
    assert await said_with(house, "look", link) == "[photo] look"
    await house.people.approve("net:5", "Eve")
    await house.people.make_owner("Eve")
    kept = await said_with(house, "look", Attachment("photo", "", 9, given(PHOTO), is_link=True))
    assert re.fullmatch(NAMED + " look", kept)


@in_house(has_media=True)
async def test_a_photo_that_comes_again_after_a_failed_write_is_kept_once(house: House):
    message = house.message("my bike", attachments=(Attachment("photo", "", 9, given(PHOTO)),))
    keep = house.store.deliveries.add_message

    def failing(*_: object) -> None:
        house.store.deliveries.add_message = keep  # pyright: ignore[reportAttributeAccessIssue]
        raise StoreUnavailable("the disk is full.")

    house.store.deliveries.add_message = failing  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(StoreUnavailable):
        await house.host.receive(message)
    await house.host.receive(message)
    await house.host.receive(message)
    await wait_until_async("it is answered", lambda: bool(house.texts("5")))
    assert (
        len(house.store.media.list_media("kitchen", 9))
        == len(house.store.conversations.conversations("kitchen", 9))
        == 1
    )


@in_house(rules=AdmissionRules(), has_media=True)
async def test_a_stranger_has_nothing_fetched(house: House):
    await house.say("hello", attachments=(Attachment("photo", "", 9, unfetched),))
    await wait_until_async("it is answered", lambda: bool(house.texts("5")))
    assert house.store.media.boards_with_media() == []
