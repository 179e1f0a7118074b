"""Photos and sounds of boards over HTTP: uploads return an id to refer to."""

import asyncio
from typing import Annotated

from fastapi import FastAPI, Path, Query, Request, Response

from engram.memory import access
from engram.memory.access import Caller
from engram_host.companion.api.copies import BINARY, DeviceName, read_body
from engram_host.companion.auth.access import Role, requires
from engram_host.companion.media.service import ENDINGS, MediaService
from engram_host.companion.store.boards.table import MOST_NUMBER
from engram_host.companion.store.media import StoredMedia

MOST_BODY = 64 << 20
"""Limit of a request body, whatever media.megabytes allows."""

MediaId = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$", description="an id, as in media/ID")]

_MOST_AT_ONCE = 8
_BASE = "/v1/boards/{device}/media"
_FILE = {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}

_HEADERS = {
    # Nothing of it runs, even if a browser took it for a page: no scripts, forms or origin.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def add_media_routes(app: FastAPI, media: MediaService) -> None:
    room = asyncio.Semaphore(_MOST_AT_ONCE)

    @app.post(
        _BASE, status_code=201, openapi_extra=requires(Role.OWN_DEVICE, most_body=MOST_BODY) | {"requestBody": _FILE}
    )
    async def send(
        device: DeviceName,
        request: Request,
        principal: Annotated[str, Query(min_length=1, max_length=64, description="whose it is")] = "owner",
        group: Annotated[bool, Query(description="whether it is of a group: then all see it")] = False,
    ) -> StoredMedia:
        """Keep a photo or a sound for a board: also with the board's own token. The type is that of the bytes."""
        caller = access.check_caller(Caller(principal, "api", group, ""))
        media.require_on()
        async with room:
            data = await read_body(request, media.limits.bytes_each)
            if data is None:
                raise media.too_large()
            return await media.keep(device, data, caller)

    @app.get(_BASE)
    async def all_media(
        device: DeviceName,
        before: Annotated[int, Query(ge=0, le=MOST_NUMBER, description="continue below this number")] = MOST_NUMBER,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    ) -> list[StoredMedia]:
        """Photos and sounds of a board, newest first; `used` is 0 for one that no turn or memory has named yet."""
        return await media.list(device, limit, before)

    @app.get(_BASE + "/{id}", response_class=Response)
    async def one(device: DeviceName, id: MediaId) -> Response:
        """The bytes of one."""
        return await media_response(media, await media.find(device, id))

    @app.delete(_BASE + "/{id}", status_code=204)
    async def delete(device: DeviceName, id: MediaId) -> None:
        """Remove one; turns and memories that name it stay, with their captions."""
        await media.delete(device, id)


async def media_response(media: MediaService, found: StoredMedia) -> Response:
    data = await media.read(found)
    name = f"{found.device}-{found.id}.{ENDINGS[found.type]}"
    # None of MEDIA_TYPES is a page or has scripts.
    headers = _HEADERS | {"Content-Disposition": f'inline; filename="{name}"'}
    return Response(data, media_type=found.type, headers=headers)
