"""Photos and sounds of boards over HTTP: uploads return an id to refer to."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.api.devices import BINARY, DeviceName
from engram_host.companion.api.errors import NO_DEVICE, REFUSALS, ErrorResponse, responses
from engram_host.companion.auth.middleware import Role, requires
from engram_host.companion.media.service import MediaService
from engram_host.companion.media.signatures import ENDINGS
from engram_host.companion.store.media.table import StoredMedia
from engram_host.companion.store.replica import MOST_NUMBER

MOST_BODY = 64 << 20
"""Limit of a request body, whatever media.megabytes allows."""

_MOST_AT_ONCE = 8

_MOST_LISTED = 1000
_FILE = {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}
_NO_MEDIA = responses(ErrorResponse, {404: "there is no such board, or no photo or sound of that id"})

MediaId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="an id, as in media/ID")]

HEADERS = {
    # Nothing of it runs, even if a browser took it for a page: no scripts, forms or origin.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class MediaShown(BaseModel):
    """A photo or a sound that is kept for a board."""

    id: str
    reference: str = Field(description="what a turn or memory names: app.perceive(caption, media=REFERENCE)")
    type: str = Field(description="by its bytes, such as image/jpeg")
    size: int = Field(description="in bytes")
    sha256: str
    scope: str = Field(description="who may see it: user:NAME, or all for a group")
    at: int = Field(description="when it came last, in Unix seconds")
    number: int = Field(description="higher for what came later")
    named: bool = Field(description="whether a turn or memory names it; one that none ever names goes after some days")


def make_media_router(media: MediaService) -> APIRouter:
    """Make the routes."""
    router = APIRouter(prefix="/v1/boards/{device}/media", responses=REFUSALS | NO_DEVICE)
    room = asyncio.Semaphore(_MOST_AT_ONCE)
    rules: dict[str, Any] = {"responses": _NO_MEDIA, "openapi_extra": requires(Role.OPERATOR)}

    @router.post(
        "",
        status_code=201,
        openapi_extra=requires(Role.OWN_DEVICE, most_body=MOST_BODY) | {"requestBody": _FILE},
    )
    async def send(
        device: DeviceName,
        request: Request,
        principal: Annotated[str, Query(min_length=1, max_length=64, description="whose it is")] = "owner",
        group: Annotated[bool, Query(description="whether it is of a group: then all see it")] = False,
    ) -> MediaShown:
        """Keep a photo or a sound for a board: also with the board's own token. The type is that of the bytes."""
        caller = Caller(principal, _ROOM, group, "")
        access.check_caller(caller)
        media.require_on()
        async with room:
            data = bytearray()
            async for piece in request.stream():
                data += piece
                if len(data) > media.limits.bytes_each:
                    raise media.too_large()
            return _shown(await media.keep(device, bytes(data), caller))

    @router.get("", openapi_extra=requires(Role.OPERATOR))
    async def all_media(
        device: DeviceName,
        before: Annotated[int, Query(ge=0, le=MOST_NUMBER, description="continue below this number")] = MOST_NUMBER,
        limit: Annotated[int, Query(ge=1, le=_MOST_LISTED)] = 100,
    ) -> list[MediaShown]:
        """Photos and sounds of a board, newest first."""
        return [_shown(each) for each in await media.list(device, limit, before)]

    @router.get("/{id}", response_class=Response, **rules)
    async def one(device: DeviceName, id: MediaId) -> Response:
        """The bytes of one."""
        return await media_response(media, await media.find(device, id))

    @router.delete("/{id}", status_code=204, **rules)
    async def delete(device: DeviceName, id: MediaId) -> None:
        """Remove one; turns and memories that name it stay, with their captions."""
        await media.delete(device, id)

    return router


_ROOM = "api"


async def media_response(media: MediaService, found: StoredMedia) -> Response:
    """Return the bytes in a response that is safe for a browser."""
    data = await media.read(found)
    name = f"{found.device}-{found.id}.{ENDINGS[found.type]}"
    # None of MEDIA_TYPES is a page or has scripts.
    headers = HEADERS | {"Content-Disposition": f'inline; filename="{name}"'}
    return Response(data, media_type=found.type, headers=headers)


def _shown(found: StoredMedia) -> MediaShown:
    names = {"reference": found.reference, "sha256": found.sha, "named": bool(found.used)}
    return MediaShown.model_validate(vars(found) | names)
