"""Settings of boards over HTTP: possible and known values, and changes."""

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.board_settings.service import BoardSettings, BoardSettingsService
from engram_host.companion.board_settings.table import Kind, SettingInfo, all_settings
from engram_host.companion.types import Conversation, ConversationState

_LONGEST = 4000


class SettingShown(BaseModel):
    """A setting of a board."""

    name: str
    kind: Kind
    default: Any = Field(description="empty for a secret")
    least: int = Field(description="of a number, or of a text's length")
    most: int
    choices: list[str]
    is_set: bool = Field(description="whether the board said that it is not left to its default")
    value: Any = Field(description="as far as the board said; null for a secret, and where nothing is known")


class SettingChangeShown(BaseModel):
    """A change that a board was asked for."""

    id: str = Field(description="of the message: /v1/boards/NAME/chat/ID follows it")
    command: str = Field(description="without the value of a secret")
    state: ConversationState
    at: int = Field(description="in Unix seconds")
    problem: str = Field(description="why the board did not do it, empty if it did or has not answered")


class SettingsShown(BaseModel):
    """Settings of a board."""

    read: int = Field(description="when the board listed what is set, in Unix seconds; 0 if it never did")
    settings: list[SettingShown]
    changes: list[SettingChangeShown] = Field(description="the latest ones, newest first")


class SettingChange(BaseModel):
    """A setting or a secret, and its value."""

    name: str = Field(max_length=40)
    value: str = Field(
        max_length=_LONGEST, description="a text as it is, all else as JSON has it; empty for an empty text"
    )


def make_settings_router(settings: BoardSettingsService) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/boards/{device}/settings", responses=REFUSALS | NO_DEVICE)
    rules: dict[str, Any] = {"openapi_extra": requires(Role.OPERATOR)}

    @router.get("", **rules)
    async def show(device: DeviceName) -> SettingsShown:
        """The settings of a board, with those values that it said; a secret's is never shown."""
        return _shown(await settings.find(device))

    @router.post("", **rules)
    async def change(device: DeviceName, change: SettingChange) -> SettingChangeShown:
        """Ask a board to change a setting, after the firmware's own rules have been asked; it waits while the board is away."""
        return _change(await settings.change(device, change.name, change.value))

    @router.post("/read", **rules)
    async def read(request: Request, device: DeviceName) -> SettingChangeShown:
        """Ask a board to list its settings."""
        await request.body()  # unused, and refused if too long like any other body
        return _change(await settings.read(device))

    return router


def _shown(found: BoardSettings) -> SettingsShown:
    return SettingsShown(
        read=found.read_at,
        settings=[_setting(info, found) for info in all_settings().values()],
        changes=[_change(each.message, each.answer.problems) for each in found.recent],
    )


def _setting(info: SettingInfo, found: BoardSettings) -> SettingShown:
    is_set = info.name in found.values
    value = found.values.get(info.name, info.default if found.read_at and not info.is_secret else None)
    return SettingShown.model_validate(vars(info) | {"is_set": is_set, "value": value})


def _change(found: Conversation, problems: Sequence[str] = ()) -> SettingChangeShown:
    said = found.said
    return SettingChangeShown(
        id=said.mid, command=said.text, state=found.state, at=found.at, problem=" ".join(problems)
    )
