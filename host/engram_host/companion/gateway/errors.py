"""Refusals of the gateway; how they look is in dialects.py."""

from collections.abc import Mapping

from engram_host.companion.errors import CompanionError

BUSY_HEADERS = {"Retry-After": "5"}


class GatewayRefused(CompanionError):
    """The gateway does not do what it is asked: a status, a sentence, OpenAI's code, and the parameter that is meant.

    `why` is what it counts as: limit, busy, request or service (see metrics.py), or "" if nobody is there to be refused.
    """

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
    """A limit of the day is reached."""

    why = "limit"


class Busy(GatewayRefused):
    """Too many calls are under way."""

    why = "busy"


class ServiceFailed(GatewayRefused):
    """The service behind the gateway refuses, fails, or is not there."""

    why = "service"


class ClientGone(GatewayRefused):
    """Nobody waits for the answer any more."""

    why = ""
