"""Refusals of the gateway; dialects.py formats them."""

from collections.abc import Mapping

from engram_host.companion.errors import CompanionError

BUSY_HEADERS = {"Retry-After": "5"}


class GatewayRefused(CompanionError):
    """A refusal; `why` is its label in metrics: limit, busy, request, service, or "" for a client gone."""

    why = "request"

    def __init__(
        self, status: int, why: str, code: str, headers: Mapping[str, str] | None = None, parameter: str | None = None
    ):
        super().__init__(why)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})
        self.parameter = parameter


class LimitReached(GatewayRefused):
    why = "limit"


class Busy(GatewayRefused):
    why = "busy"


class ServiceFailed(GatewayRefused):
    why = "service"


class ClientGone(GatewayRefused):
    why = ""
