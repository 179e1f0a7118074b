"""The chats that somebody sends into: bounded by those in use and those that have to wait."""

import asyncio

import pytest

from engram_host.companion.bridges.errors import SlowDown
from engram_host.companion.bridges.network import Chat
from engram_host.companion.conversations import outlet
from engram_host.companion.conversations.outlet import Outlets


class Flooded:
    """A network that wants to be left alone for a minute after each message."""

    async def send(self, *_message: object) -> str:
        raise SlowDown(60)


def test_a_chat_whose_pause_has_ended_is_forgotten_when_another_is_taken(monkeypatch: pytest.MonkeyPatch):
    now = [100.0]
    monkeypatch.setattr(outlet.time, "monotonic", lambda: now[0])
    outlets = Outlets(Flooded(), set())  # pyright: ignore[reportArgumentType]  # nothing else is called

    async def flood(chat: str) -> None:
        with pytest.raises(SlowDown):
            await outlets.take(chat).send(Chat(chat), "hi", "k", "", is_plain=True)
        outlets.release(chat)

    asyncio.run(flood("1"))
    assert len(outlets) == 1
    now[0] += 61
    asyncio.run(flood("2"))
    assert len(outlets) == 1
