"""The gateway over HTTP: OpenAI's and Anthropic's API at /gateway/v1, and its usage for the
operator.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from engram_host.companion.api.errors import REFUSALS, responses
from engram_host.companion.auth.middleware import RequestCaller, Role, requires
from engram_host.companion.gateway.dialects import ANTHROPIC, OPENAI
from engram_host.companion.gateway.proxy import Gateway
from engram_host.companion.gateway.quota import MILLIONTHS
from engram_host.companion.types import GatewayUse

_MOST_DEVICES = 1000


class Use(BaseModel):
    """Calls and tokens: used, or as a limit, of which 0 is none."""

    calls: int
    tokens: int


class UseAndCost(Use):
    """Calls and tokens that were used, and what they cost."""

    cost: float | None = Field(description="by gateway.prices, in their currency; null without prices")


class UseOfDevice(UseAndCost):
    """Usage of a board."""

    device: str = Field(description="its name; the operator's own calls are counted as $operator")


class GatewayDay(BaseModel):
    """Usage of a day's limits."""

    is_set_up: bool = Field(description="whether there is a service behind the gateway")
    begins: int = Field(description="when the day began, in Unix seconds: midnight UTC")
    device_limit: Use = Field(description="of each board")
    all_limit: Use = Field(description="of all together")
    used: UseAndCost = Field(description="by all together")
    devices: list[UseOfDevice] = Field(description="those that have asked on the day, by name")
    following: str = Field(description="the name to go on after, empty if there is none")


class GatewayError(BaseModel):
    """A problem, in the form of OpenAI's API."""

    message: str
    type: str
    param: str | None
    code: str | None


class GatewayProblem(BaseModel):
    """An answer that is an error."""

    error: GatewayError


class AnthropicError(BaseModel):
    """A problem, in the form of Anthropic's API."""

    type: str
    message: str


class AnthropicProblem(BaseModel):
    """An answer of Anthropic's API that is an error."""

    type: str = "error"
    error: AnthropicError


class ModelShown(BaseModel):
    """A model that may be asked for, as OpenAI's API has it; the service may say more of it."""

    id: str
    object: str = "model"


class ModelList(BaseModel):
    """The models that may be asked for, as OpenAI's API has them."""

    object: str = "list"
    data: list[ModelShown]


class ChatRequest(BaseModel):
    """Parameters that the gateway reads; docs/guides/gateway.md lists those that it passes on."""

    model_config = ConfigDict(extra="allow")

    model: str | None = Field(None, max_length=200, description="one of the models that may be asked for")
    messages: list[Any] = Field(description="as OpenAI's or Anthropic's API has them")


_STATUSES: dict[int | str, str] = {
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
}
_REFUSALS = responses(GatewayProblem, _STATUSES)
_ANTHROPIC_REFUSALS = responses(AnthropicProblem, _STATUSES)
Model = Annotated[str, Path(max_length=200, description="a model's name, in which slashes may stand")]
_BODY = {"required": True, "content": {"application/json": {"schema": ChatRequest.model_json_schema()}}}


def make_gateway_router(gateway: Gateway) -> APIRouter:
    """Make the gateway's routes, in OpenAI's and Anthropic's formats."""
    router = APIRouter(responses=REFUSALS)

    def used(use: GatewayUse) -> UseAndCost:
        cost = use.cost / MILLIONTHS if gateway.has_prices else None
        return UseAndCost(calls=use.calls, tokens=use.tokens, cost=cost)

    @router.post(
        "/gateway/v1/chat/completions",
        response_class=Response,
        responses=_REFUSALS
        | {200: {"description": "the model's answer", "content": {"application/json": {}, "text/event-stream": {}}}},
        openapi_extra=requires(Role.GATEWAY) | {"requestBody": _BODY},
    )
    async def chat(request: Request, caller: RequestCaller) -> Response:
        """Ask the model behind the gateway; streamed if the request says so."""
        # Parsed by hand (parse_request): fields missing in the model above must reach the service unchanged, and a
        # refusal has OpenAI's form. The response is the service's, passed on as it arrives.
        return await gateway.ask(request, caller, OPENAI)

    @router.post(
        "/gateway/v1/messages",
        response_class=Response,
        responses=_ANTHROPIC_REFUSALS
        | {200: {"description": "the model's answer", "content": {"application/json": {}, "text/event-stream": {}}}},
        openapi_extra=requires(Role.GATEWAY) | {"requestBody": _BODY},
    )
    async def messages(request: Request, caller: RequestCaller) -> Response:
        """Ask the model behind the gateway by Anthropic's API, if gateway.api says so; streamed if the request says so."""
        return await gateway.ask(request, caller, ANTHROPIC)

    @router.get("/v1/gateway", openapi_extra=requires(Role.OPERATOR))
    async def today(
        after: Annotated[str, Query(max_length=64, description="the name to go on after")] = "",
        limit: Annotated[int, Query(ge=1, le=_MOST_DEVICES)] = 100,
    ) -> GatewayDay:
        """Usage of today's limits, in total and by board."""
        day = await gateway.today()
        devices = [(name, use) for name, use in day.of_devices if name > after]
        shown = [UseOfDevice(device=name, **used(use).model_dump()) for name, use in devices[:limit]]
        return GatewayDay(
            is_set_up=gateway.is_set_up,
            begins=day.begins,
            device_limit=_use(day.limits["device"]),
            all_limit=_use(day.limits["all"]),
            used=used(day.used),
            devices=shown,
            following=shown[-1].device if len(devices) > limit else "",
        )

    # Both return the service's own bytes if the settings list no models: the models below describe them.
    @router.get(
        "/gateway/v1/models",
        response_class=Response,
        responses=_REFUSALS | {200: {"description": "the models", "model": ModelList}},
        openapi_extra=requires(Role.GATEWAY),
    )
    async def models(request: Request, caller: RequestCaller) -> Response:
        """The models that may be asked for."""
        return await gateway.models(request, caller)

    @router.get(
        "/gateway/v1/models/{model:path}",
        response_class=Response,
        responses=_REFUSALS | {200: {"description": "the model", "model": ModelShown}},
        openapi_extra=requires(Role.GATEWAY),
    )
    async def model(request: Request, caller: RequestCaller, model: Model) -> Response:
        """One of the models that may be asked for."""
        return await gateway.model(request, caller, model)

    return router


def _use(use: GatewayUse) -> Use:
    return Use(calls=use.calls, tokens=use.tokens)
