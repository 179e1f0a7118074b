"""What the gateway answers by itself, in OpenAI's form."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import JSONResponse

from engram_host.companion.errors import CompanionError

PREFIX = "/gateway/"
"""Paths below it answer in OpenAI's form."""

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "requests"}

_QUOTA = "insufficient_quota"


class GatewayRefused(CompanionError):
    """The gateway does not do what it is asked: a status, a sentence, and OpenAI's code.

    `why` is what it counts as: limit, busy, request or service (see metrics.py), or "" if nobody is there to be refused.
    """

    why = "request"

    def __init__(self, status: int, why: str, code: str, headers: Mapping[str, str] | None = None):
        super().__init__(why)
        self.status = status
        self.code = code
        self.headers = dict(headers or {})

    def response(self) -> JSONResponse:
        """The answer that tells so."""
        return refusal(self.status, str(self), self.headers, self.code)


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


def refusal(status: int, why: str, headers: Mapping[str, str] | None = None, code: str | None = None) -> JSONResponse:
    """An error as OpenAI's API has it."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    if code == _QUOTA:
        kind = _QUOTA
    error: dict[str, Any] = {"message": why, "type": kind, "param": None, "code": code}
    return JSONResponse({"error": error}, status, dict(headers or {}))
