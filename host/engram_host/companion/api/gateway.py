"""The gateway over HTTP: OpenAI's and Anthropic's API at /gateway/v1, and its usage for the operator."""

from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from engram_host.companion.auth.access import RequestCaller, Role, requires
from engram_host.companion.gateway.dialects import ANTHROPIC, OPENAI
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.gateway.quota import DayUsage


class ChatRequest(BaseModel):
    """Parameters that the gateway reads; docs/guides/gateway.md lists those that it passes on."""

    model_config = ConfigDict(extra="allow")

    model: str | None = Field(None, max_length=200, description="one of the models that may be asked for")
    messages: list[Any] = Field(description="as OpenAI's or Anthropic's API has them")


# Refusals have the form of the service's API, which docs/guides/gateway.md lists with their reasons.
_REFUSAL = {"description": "a refusal in the form of the API", "content": {"application/json": {}}}
_STATUSES = (400, 401, 403, 404, 408, 413, 422, 429, 499, 502, 503, 504, "4XX", "5XX")
_REFUSALS: dict[int | str, dict[str, Any]] = dict.fromkeys(_STATUSES, _REFUSAL)
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
