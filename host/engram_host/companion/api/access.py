"""The audit log over HTTP, and the end of browsers' sessions."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from engram import log_line
from engram_host.companion.api.errors import REFUSALS
from engram_host.companion.auth.middleware import Role, requires, shown_token
from engram_host.companion.auth.sessions import Sessions
from engram_host.companion.store.tokens import AuditTable

_MOST_ENTRIES = 1000


class AuditEntryShown(BaseModel):
    """An action of an operator."""

    number: int = Field(description="higher for what was done later")
    at: int = Field(description="in Unix seconds")
    who: str = Field(description="the name of an operator's token, or the user of a command")
    action: str = Field(description="method and path of a request, or a command")
    outcome: str = Field(description="allowed or refused, of a request; done, of a command")
    address: str = Field(description="where a request came from; empty for a command")


class SessionsEnded(BaseModel):
    """Result of a sign-out everywhere."""

    ended: int = Field(description="sessions of browsers that there were")


def make_audit_router(store: AuditTable) -> APIRouter:
    """Make the route of the audit log."""
    router = APIRouter(responses=REFUSALS)

    @router.get("/v1/audit", openapi_extra=requires(Role.OPERATOR))
    async def audit(
        before: Annotated[int, Query(ge=0, le=log_line.MAX_SEQ, description="continue below this number")] = 0,
        limit: Annotated[int, Query(ge=1, le=_MOST_ENTRIES)] = 100,
    ) -> list[AuditEntryShown]:
        """Actions of operators, newest first."""
        return [AuditEntryShown(**vars(each)) for each in await asyncio.to_thread(store.audit, limit, before)]

    return router


def make_session_router(sessions: Sessions) -> APIRouter:
    """Make the route that signs out everywhere."""
    router = APIRouter(responses=REFUSALS)

    # Readers may end their own sessions, too, as on the page.
    @router.delete("/v1/page/sessions", openapi_extra=requires(Role.OPERATOR, reads=True))
    async def sign_out_everywhere(request: Request) -> SessionsEnded:
        """Sign out all browsers that signed in on the page with the token of this request, and end its unused links."""
        session = request.state.session
        ended = sessions.end_all(session) if session else sessions.end_all_of(shown_token(request.headers))
        return SessionsEnded(ended=await ended)

    return router
