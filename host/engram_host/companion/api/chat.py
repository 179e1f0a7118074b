"""Conversations with boards over HTTP: answers are server-sent events, which can be resumed."""

import json
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated, Any

from fastapi import FastAPI, Header, Path, Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from engram.link.messages import MID_CHARS
from engram_host.companion.api.copies import DeviceName
from engram_host.companion.conversations.service import (
    BRIDGE_IDS,
    DOOR_IDS,
    MOST_FOLLOWERS,
    PUSH_IDS,
    ConversationService,
    Event,
    Progress,
)
from engram_host.companion.gateway.streaming import StreamedAnswer
from engram_host.companion.memories.commands import PREFIX
from engram_host.companion.types import Conversation, Said

EVENT_STREAM = "text/event-stream"

ID_PATTERN = rf"^[A-Za-z0-9._:@/+-]{{1,{MID_CHARS}}}$"

_BASE = "/v1/boards/{device}/chat"
_RESERVED = {
    DOOR_IDS: "programs at the broker",
    PUSH_IDS: "what a board says by itself",
    BRIDGE_IDS: "messages over a bridge",
    PREFIX: "changes of memories",
}
_MOST_WAIT = 86400
_STREAMS: dict[str, Any] = {
    "response_class": Response,
    "responses": {
        200: {
            "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
            "description": "events of the names state, text, notice, line, report, problem, again and end, each with "
            "a JSON object; the id of an event is the one to go on after",
        }
    },
}

MessageId = Annotated[str, Path(pattern=ID_PATTERN, description="a message's id")]
Wait = Annotated[int, Query(ge=0, le=_MOST_WAIT, description="end the stream after so many seconds in any case")]


class NewMessage(BaseModel):
    """A message to a board: a text for its agent, or a command that begins with a slash."""

    text: str = Field("", max_length=20000)
    command: str = Field("", max_length=20000, description="such as /recall bike; not with text")
    id: str = Field(
        "",
        pattern=ID_PATTERN.replace("{1,", "{0,"),
        description="the same message sent again has the same one; it cannot begin with mqtt:, push:, bridge: or memory:",
    )
    principal: str = Field("owner", min_length=1, max_length=64, description="who speaks")
    room: str = Field("", max_length=64, description="the chat; its own session on the board")
    group: bool = Field(False, description="whether others read along there")
    workspace: str = Field("", max_length=64)
    forwarded: str = Field("", max_length=200, description="who wrote the text, if the speaker only passes it on")
    quoted: str = Field("", max_length=20000, description="what it answers, of which the board gets the beginning")
    edits: str = Field("", max_length=MID_CHARS, description="the id of the speaker's message that this one corrects")

    def said(self) -> Said:
        if bool(self.text) == bool(self.command):
            raise HTTPException(422, "a message has either text or command")
        for prefix, owner in _RESERVED.items():
            if self.id.startswith(prefix):
                raise HTTPException(422, f"an id cannot begin so: {prefix} is for {owner}; choose another one")
        return Said(
            mid=self.id or f"api:{secrets.token_hex(8)}",
            principal=self.principal,
            text=self.text or self.command,
            room=self.room,
            is_group=self.group,
            workspace=self.workspace,
            is_command=bool(self.command),
            forwarded=self.forwarded,
            quoted=self.quoted,
            edits=self.edits,
        )


def add_chat_routes(app: FastAPI, conversations: ConversationService) -> None:
    @app.post(_BASE, **_STREAMS)
    async def say(device: DeviceName, message: NewMessage, wait: Wait = _MOST_WAIT) -> Response:
        """Say something to a board. Its answer comes as it is made; what the board has not got yet is kept for it."""
        said = message.said()
        _check_followers(conversations)
        return _stream(conversations, await conversations.say(device, said), 0, wait)

    @app.get(_BASE)
    async def messages(
        device: DeviceName,
        room: Annotated[str, Query(max_length=64, description="only of this room")] = "",
        before: Annotated[int, Query(ge=0, le=1 << 60, description="continue below this number")] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> list[Conversation]:
        """Messages to a board and what it said by itself (`is_push`), newest first, as long as they are kept."""
        return await conversations.list_messages(device, limit, before, room)

    @app.get(_BASE + "/{id}", **_STREAMS)
    async def follow(
        device: DeviceName,
        id: MessageId,
        after: Annotated[int, Query(ge=0, le=1 << 60, description="go on after the piece of this number")] = 0,
        wait: Wait = _MOST_WAIT,
        last_event: Annotated[
            str, Header(alias="Last-Event-ID", max_length=20, description="as after, which a browser sends")
        ] = "",
    ) -> Response:
        """Follow the answer to a message again, from its beginning or after one of its pieces."""
        _check_followers(conversations)
        found = await conversations.find(device, id)
        if re.fullmatch(r"\d{1,18}", last_event, re.ASCII):
            after = max(after, int(last_event))
        return _stream(conversations, found, after, wait)

    @app.delete(_BASE + "/{id}")
    async def cancel(device: DeviceName, id: MessageId) -> Conversation:
        """Cancel the answer to a message; pieces received so far stay."""
        return await conversations.cancel(device, id)


def _check_followers(conversations: ConversationService) -> None:
    if conversations.followers >= MOST_FOLLOWERS:
        raise HTTPException(503, "too many follow answers now: try again", {"Retry-After": "5"})


def _stream(conversations: ConversationService, found: Conversation, after: int, wait: int) -> Response:
    return StreamedAnswer(_events(conversations, found, after, wait), AsyncExitStack())


async def _events(
    conversations: ConversationService, found: Conversation, after: int, wait: int
) -> AsyncIterator[bytes]:
    async for event in conversations.follow(found.device, found.said.mid, after, wait):
        yield _encode(event)


def _encode(event: Event) -> bytes:
    if event is None:
        return b":\n\n"
    if isinstance(event, Progress):
        found = event.conversation
        fields: dict[str, Any] = {"id": found.said.mid, "state": found.state, "turn": found.turn, "told": event.told}
        return _line("state" if found.is_open else "end", fields)
    return b"id: %d\n" % event.number + _line(event.kind, {"text": event.text})


def _line(name: str, fields: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(fields, ensure_ascii=False)}\n\n".encode()
