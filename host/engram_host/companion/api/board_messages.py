"""Messages of boards over HTTP: POST /v1/devices/{device}/messages."""

from fastapi import APIRouter, Request, Response

from engram.link import messages
from engram_host.companion.api.devices import DeviceName
from engram_host.companion.api.errors import refuse
from engram_host.companion.auth.middleware import HttpAccess, RequestCaller, Role, requires
from engram_host.companion.replication.protocol import MessageDispatcher

BINARY = "application/octet-stream"

_BODY = {"required": True, "content": {BINARY: {"schema": {"type": "string", "format": "binary"}}}}


def make_message_router(dispatcher: MessageDispatcher, access: HttpAccess) -> APIRouter:
    """Make the route on which boards send their messages."""
    router = APIRouter()

    @router.post(
        "/v1/devices/{device}/messages",
        response_class=Response,
        responses={
            200: {"content": {BINARY: {}}, "description": "the answers, one after the other; none to what came late"},
        },
        openapi_extra=requires(Role.OWN_DEVICE) | {"requestBody": _BODY},
    )
    async def message(device: DeviceName, request: Request, caller: RequestCaller) -> Response:
        """A message of a board, as docs/reference/messages.md describes it."""
        if not caller.device:  # else the guard has taken its turn
            access.check_rate(device)
        if request.headers.get("content-type", BINARY).split(";")[0].strip() != BINARY:
            return refuse(request.url.path, 400, f"the content type must be {BINARY}.")
        # No model: a message is bytes of the project's own format, and a body parameter would be read whole before
        # its length is known. This stops at the first piece beyond the bound.
        data = bytearray()
        async for piece in request.stream():
            data += piece
            if len(data) > messages.MOST_BYTES:
                return refuse(request.url.path, 413, f"a message has at most {messages.MOST_BYTES} bytes.")
        try:
            answers = await dispatcher.answers(device, bytes(data))
        except messages.BadMessage as problem:
            return refuse(request.url.path, 400, str(problem))
        return Response(b"".join(answers), media_type=BINARY)

    return router
