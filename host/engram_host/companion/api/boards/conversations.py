"""Conversations with a board over HTTP: sessions, and the memories of a message."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from engram_host.companion.api.boards.memories import ChangeShown, show_change
from engram_host.companion.api.chat import MessageId
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS, ErrorResponse, responses
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.conversations.service import ConversationService
from engram_host.companion.memories.exchanges import MOST_REMEMBERED, NOTHING, RememberedItem
from engram_host.companion.memories.recalled import MOST_RECALLED
from engram_host.companion.memories.service import MemoryServices

_MOST_SESSIONS = 1000
_MOST_TURNS = 1000

_RULES: dict[str, Any] = {"responses": NO_DEVICE, "openapi_extra": requires(Role.OPERATOR)}
_MESSAGE_RULES: dict[str, Any] = _RULES | {
    "responses": responses(ErrorResponse, {404: "there is no such board, or no message of that id"})
}


class SessionShown(BaseModel):
    """A session of conversations."""

    id: str
    title: str = Field(description="or how its first turn begins")
    turns: int
    at: int = Field(description="when it was used last, in Unix seconds")


class SessionTurn(BaseModel):
    """A turn of a session."""

    model_config = ConfigDict(from_attributes=True)

    id: str
    state: Literal["live"]
    line: dict[str, Any] = Field(description="as the board wrote it, see docs/reference/formats.md")


class SessionTurnsShown(BaseModel):
    """Turns of a session."""

    total: int = Field(description="how many it has that were not forgotten")
    turns: list[SessionTurn] = Field(description="the newest first")


class RecalledShown(BaseModel):
    """A memory, a turn or a line of a note that the model was shown for an answer."""

    id: str
    text: str = Field(description="what it says now; empty if it has gone since")
    percent: int = Field(description="how sure the board was that it belongs to the message")
    words: list[str] = Field(description="words of the message that stand in it")


class RememberedShown(BaseModel):
    """A memory that came from a message."""

    id: str
    text: str
    state: str = Field(description="forgotten, without a text, if that was what the board was asked to do with it last")
    change: ChangeShown | None = Field(description="what the board was asked to do with it last")


class MessageMemory(BaseModel):
    """A message to a board, its answer, and what it had to do with memories."""

    id: str
    text: str
    answer: str = Field(description="as far as it has come")
    turn: str = Field(description="the board's id of the message; empty if it has none yet")
    session: str = Field(description="empty if the copy does not have the turn yet")
    recalled: list[RecalledShown] = Field(
        description=f"what the model was shown of the memory, {MOST_RECALLED} at most; empty with older firmware"
    )
    remembered: list[RememberedShown] = Field(description=f"the newest first, {MOST_REMEMBERED} at most")


def make_conversation_router(services: MemoryServices, conversations: ConversationService) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/boards/{device}", responses=REFUSALS)

    @router.get("/sessions", **_RULES)
    async def sessions(
        device: DeviceName,
        scope: Annotated[str, Query(max_length=200, description="those of the owner, user:NAME or all")] = "user:owner",
        limit: Annotated[int, Query(ge=1, le=_MOST_SESSIONS)] = 20,
    ) -> list[SessionShown]:
        """The sessions of a scope, the one used last first."""
        found = await services.sessions.newest(device, scope, limit)
        return [SessionShown.model_validate(each, from_attributes=True) for each in found]

    @router.get("/sessions/{session}", **_RULES)
    async def session_turns(
        device: DeviceName,
        session: Annotated[str, Path(pattern=r"^s[0-9]{1,10}$", description="a session's id, such as s12")],
        limit: Annotated[int, Query(ge=1, le=_MOST_TURNS)] = 50,
    ) -> SessionTurnsShown:
        """The newest turns of a session."""
        found = await services.sessions.turns(device, session, limit)
        return SessionTurnsShown.model_validate(found, from_attributes=True)

    @router.get("/chat/{id}/memory", **_MESSAGE_RULES)
    async def memory(device: DeviceName, id: MessageId) -> MessageMemory:
        """Memories shown to the model for an answer, with reasons, and memories made from the
        message."""
        exchange = await conversations.exchange(device, id)
        found = (await services.exchanges.of_exchanges(device, [exchange])).get(id, NOTHING)
        return MessageMemory(
            id=id,
            text=exchange.message.said.text,
            answer=exchange.answer.text,
            turn=exchange.message.turn,
            session=found.session,
            recalled=[RecalledShown.model_validate(each, from_attributes=True) for each in found.recalled],
            remembered=[_remembered(each) for each in found.remembered],
        )

    return router


def _remembered(item: RememberedItem) -> RememberedShown:
    change = show_change(item.change) if item.change else None
    return RememberedShown(id=item.id, text=item.text, state=item.state, change=change)
