"""The gateway over HTTP: OpenAI's and Anthropic's API at /gateway/v1, and its usage for the operator."""

from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from engram_host.companion.auth.middleware import RequestCaller, Role, requires
from engram_host.companion.gateway.dialects import ANTHROPIC, OPENAI
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.gateway.quota import DayUsage


class ChatRequest(BaseModel):
    """Parameters that the gateway reads; docs/guides/gateway.md lists those that it passes on."""

    model_config = ConfigDict(extra="allow")

    model: str | None = Field(None, max_length=200, description="one of the models that may be asked for")
    messages: list[Any] = Field(description="as OpenAI's or Anthropic's API has them")


_STATUSES = {
    400: "the request cannot be read",
    401: "a token is asked for",
    403: "the page that asks may not do this",
    404: "there is no such model",
    408: "the request took too long to arrive",
    413: "the request is too long",
    422: "something in the request is not as it should be",
    429: "a limit of the day is reached, or too many calls are under way",
    499: "the client has gone",
    502: "the model's service failed, or refuses the gateway's key",
    503: "the gateway is not set up, or the database cannot be used now",
    504: "the model's service did not answer in time",
    "4XX": "the model's service refuses the request",
    "5XX": "the model's service failed",
}
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"application/json": {}}} for status, text in _STATUSES.items()
}
_ANSWERS = _REFUSALS | {
    200: {"description": "the model's answer", "content": {"application/json": {}, "text/event-stream": {}}}
}
_BODY = {"required": True, "content": {"application/json": {"schema": ChatRequest.model_json_schema()}}}


def add_gateway_routes(app: FastAPI, gateway: Gateway) -> None:
    asks: dict[str, Any] = {
        "response_class": Response,
        "responses": _ANSWERS,
        "openapi_extra": requires(Role.GATEWAY) | {"requestBody": _BODY},
    }
    reads: dict[str, Any] = {
        "response_class": Response,
        "responses": _REFUSALS | {200: {"description": "as the API has it", "content": {"application/json": {}}}},
        "openapi_extra": requires(Role.GATEWAY),
    }

    @app.post("/gateway/v1/chat/completions", **asks)
    async def chat(request: Request, caller: RequestCaller) -> Response:
        """Ask the model behind the gateway; streamed if the request says so."""
        # Parsed by hand (parse_request): fields missing in the model above must reach the service unchanged, and a
        # refusal has OpenAI's form. The response is the service's, passed on as it arrives.
        return await gateway.ask(request, caller, OPENAI)

    @app.post("/gateway/v1/messages", **asks)
    async def messages(request: Request, caller: RequestCaller) -> Response:
        """Ask the model behind the gateway by Anthropic's API, if gateway.api says so; streamed if the request says so."""
        return await gateway.ask(request, caller, ANTHROPIC)

    @app.get("/v1/gateway")
    async def today() -> DayUsage:
        """Usage of today's limits, in total and by board."""
        return await gateway.today()

    @app.get("/gateway/v1/models", **reads)
    async def models(request: Request, caller: RequestCaller) -> Response:
        """The models that may be asked for, as OpenAI's API has them."""
        return await gateway.models(request, caller)
