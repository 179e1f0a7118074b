"""Who may use a route: each one declares it where it is made, `openapi_extra=requires(Role.OPERATOR)`.

A route that declares nothing is the operator's alone.
"""

from enum import StrEnum
from typing import Any

from fastapi import FastAPI
from starlette.routing import Match
from starlette.types import Scope

DECLARED = "x-may"
"""The field of a route's description in which the rule stands."""


class Role(StrEnum):
    """Who may use a route while tokens are asked for."""

    ANYBODY = "anybody"
    DEVICE = "device"
    """Any device with a token of its own; the route looks after what it shows to which."""

    OWN_DEVICE = "own device"
    """The device that the path names."""

    OPERATOR = "operator"

    GATEWAY = "gateway"
    """Any device or the operator, and a token is asked for always: it costs money."""


_DESCRIPTION = "/openapi.json"
"""What FastAPI adds by itself: the API's description, the same for everybody."""


def requires(who: Role) -> dict[str, Any]:
    """What a route's `openapi_extra` says of who may use it."""
    return {DECLARED: str(who)}


def route_rule(app: FastAPI, scope: Scope) -> tuple[Role, str]:
    """The rule of the route that a request is for, and the device that its path names ("" if none)."""
    if scope["path"] == _DESCRIPTION:
        return Role.ANYBODY, ""
    for route in app.router.routes:
        match, found = route.matches(scope)
        if match is not Match.NONE:
            extra = getattr(route, "openapi_extra", None) or {}
            return Role(extra.get(DECLARED, Role.OPERATOR)), found.get("path_params", {}).get("device", "")
    # There is nothing at this path; that, too, is told only to those who have a token.
    return Role.DEVICE, ""
