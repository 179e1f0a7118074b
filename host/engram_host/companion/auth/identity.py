"""Callers behind tokens."""

import asyncio
import hmac
import time
from dataclasses import dataclass

from engram_host.bounded import BoundedDict
from engram_host.companion.auth.tokens import LOOKS_LIKE_TOKEN, OPERATOR_NAME, token_digest
from engram_host.companion.store.tokens import TokenTable

SECONDS_KEPT = 1.0
"""Cache time of a token: a removed one is valid this much longer."""

MOST_KEPT = 4096


@dataclass(frozen=True)
class ApiCaller:
    """A caller: an operator by `name`, a board, or a stranger."""

    device: str = ""
    is_operator: bool = False
    name: str = ""
    is_read_only: bool = False

    @property
    def is_known(self) -> bool:
        return self.is_operator or bool(self.device)

    def may_act_for(self, device: str) -> bool:
        return self.is_operator or (bool(device) and self.device == device)


STRANGER = ApiCaller()
OPERATOR = ApiCaller(is_operator=True, name=OPERATOR_NAME)


class CallerLookup:
    def __init__(self, tokens: TokenTable, operator: str):
        self._tokens = tokens
        self.operator = token_digest(operator)
        self._kept: BoundedDict[bytes, tuple[float, ApiCaller]] = BoundedDict(MOST_KEPT)

    async def by_token(self, token: str) -> ApiCaller:
        """Return a token's caller, or STRANGER. Raise StoreUnavailable."""
        return await self.by_digest(token_digest(token)) if LOOKS_LIKE_TOKEN.fullmatch(token) else STRANGER

    async def by_digest(self, digest: bytes) -> ApiCaller:
        if hmac.compare_digest(digest, self.operator):
            return OPERATOR
        until, caller = self._kept.get(digest, (0.0, STRANGER))
        if until <= time.monotonic():
            caller = await asyncio.to_thread(self._look_up, digest)
            self._kept[digest] = (time.monotonic() + SECONDS_KEPT, caller)
        return caller

    def _look_up(self, digest: bytes) -> ApiCaller:
        now = int(time.time())
        if device := self._tokens.device_of(digest, now):
            return ApiCaller(device)
        if token := self._tokens.operator_of(digest, now):
            return ApiCaller(is_operator=True, name=token.name, is_read_only=token.is_read_only)
        return STRANGER
