"""Bridges over HTTP: status, and reload of their settings."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from engram_host.companion.api.errors import REFUSALS
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.bridges.runner import BridgeRunner
from engram_host.companion.bridges.running import BridgeState, BridgeStatus


class BridgeShown(BaseModel):
    """Status of a bridge since the companion started."""

    name: str
    network: str
    state: BridgeState = Field(
        description="away: it is tried again; stopped: somebody has to act; elsewhere: another companion on this folder runs it"
    )
    since: int = Field(description="when that state began, in Unix seconds")
    reason: str = Field(description="why it does not work, empty if it does")
    account: str = Field(description="the account that it is signed in as, empty if it never was")
    starts: int = Field(description="how often its connection was started")
    received: int = Field(description="messages of people")
    sent: int = Field(description="messages to people")
    heard: int = Field(description="when the network was heard last, in Unix seconds; 0 if never")


def show_bridge(status: BridgeStatus) -> BridgeShown:
    """Convert a bridge's status for the API."""
    return BridgeShown(**vars(status))


def make_bridge_router(bridges: BridgeRunner, reload_settings: Callable[[], Awaitable[None]]) -> APIRouter:
    """Make the routes; `reload_settings()` may raise SettingError."""
    router = APIRouter(prefix="/v1/bridges", responses=REFUSALS)

    @router.get("", openapi_extra=requires(Role.OPERATOR))
    async def list_bridges() -> list[BridgeShown]:
        """Status of each bridge."""
        return [show_bridge(status) for status in bridges.statuses()]

    @router.post("/reload", openapi_extra=requires(Role.OPERATOR))
    async def reload(request: Request) -> list[BridgeShown]:
        """Read the settings and secrets of bridges, people and alerts again: what has changed, or was stopped, starts again."""
        await request.body()  # unused, and refused if too long like any other body
        await reload_settings()
        return [show_bridge(status) for status in bridges.statuses()]

    return router
