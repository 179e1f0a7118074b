"""The gateway over HTTP: OpenAI's API at /gateway/v1."""

from typing import Annotated, Any

from fastapi import FastAPI, Path, Request, Response
from pydantic import BaseModel

from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.security.guard import CallerHere
from engram_host.companion.security.rules import Who, may


class GatewayError(BaseModel):
    """What went wrong, as OpenAI's API has it."""

    message: str
    type: str
    param: str | None
    code: str | None


class GatewayProblem(BaseModel):
    """An answer that is an error."""

    error: GatewayError


_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"description": told, "model": GatewayProblem}
    for status, told in {
        400: "the request cannot be read",
        401: "a token is asked for",
        403: "the page that asks may not do this",
        408: "the request took too long to arrive",
        413: "the request is too long",
        422: "something in the request is not as it should be",
        404: "there is no such model",
        429: "a limit of the day is reached, or too many calls are under way",
        499: "the client has gone",
        502: "the model's service failed, or refuses the gateway's key",
        503: "the gateway is not set up, or the database cannot be used now",
        504: "the model's service did not answer in time",
        "4XX": "the model's service refuses the request",
        "5XX": "the model's service failed",
    }.items()
}
Model = Annotated[str, Path(max_length=200, description="a model's name, in which slashes may stand")]
_BODY = {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}}


def add_gateway(app: FastAPI, gateway: Gateway) -> None:
    """Add the routes. What they take and give is OpenAI's, and described there."""

    @app.post(
        "/gateway/v1/chat/completions",
        response_class=Response,
        responses=_REFUSALS
        | {200: {"description": "the model's answer", "content": {"application/json": {}, "text/event-stream": {}}}},
        openapi_extra=may(Who.GATEWAY) | {"requestBody": _BODY},
    )
    async def chat(request: Request, caller: CallerHere) -> Response:
        """Ask the model behind the gateway; streamed if the request says so."""
        return await gateway.chat(request, caller)

    @app.get("/gateway/v1/models", response_class=Response, responses=_REFUSALS, openapi_extra=may(Who.GATEWAY))
    async def models(request: Request, caller: CallerHere) -> Response:
        """The models that may be asked for."""
        return await gateway.models(request, caller)

    @app.get(
        "/gateway/v1/models/{model:path}", response_class=Response, responses=_REFUSALS, openapi_extra=may(Who.GATEWAY)
    )
    async def model(request: Request, caller: CallerHere, model: Model) -> Response:
        """One of the models that may be asked for."""
        return await gateway.model(request, caller, model)
