"""Who is behind a token."""

import asyncio
import hmac
import time
from collections import OrderedDict
from dataclasses import dataclass

from engram_host.companion.auth.tokens import LOOKS_LIKE_TOKEN, OPERATOR_NAME, token_digest
from engram_host.companion.store.tokens import TokenTable

SECONDS_KEPT = 1.0
"""How long what the database said of a token is taken for true: a token that was removed ends so much later."""

MOST_KEPT = 4096
"""Tokens that are remembered: bounds the memory."""


@dataclass(frozen=True)
class ApiCaller:
    """Who asks: an operator, a board, a person with a page of their own, or none of these (somebody without a token, or with
    one that is not known). `name` is that of an operator's token, `principal` the person.
    """

    device: str = ""
    is_operator: bool = False
    name: str = ""
    is_read_only: bool = False
    is_browser: bool = False
    """Whether it is a browser that a cookie is known of."""

    principal: str = ""

    @property
    def is_known(self) -> bool:
        """Whether a token or a person's link said who it is."""
        return self.is_operator or bool(self.device) or bool(self.principal)

    def may_act_for(self, device: str) -> bool:
        """Whether what concerns one board is theirs."""
        return self.is_operator or (bool(device) and self.device == device)


STRANGER = ApiCaller()
OPERATOR = ApiCaller(is_operator=True, name=OPERATOR_NAME)
"""Whoever has the token of the file operator.token."""


class CallerLookup:
    """Knows callers by their tokens, with the database and the token of the file operator.token."""

    def __init__(self, tokens: TokenTable, operator: str):
        self._tokens = tokens
        self.operator = token_digest(operator)
        """The SHA-256 of the token in operator.token."""
        self._kept: OrderedDict[bytes, tuple[float, ApiCaller]] = OrderedDict()

    async def by_token(self, token: str) -> ApiCaller:
        """Who a token belongs to, STRANGER if to nobody. StoreUnavailable."""
        return await self.by_digest(token_digest(token)) if LOOKS_LIKE_TOKEN.fullmatch(token) else STRANGER

    async def by_digest(self, digest: bytes) -> ApiCaller:
        """Who the token with a digest belongs to, STRANGER if to nobody. StoreUnavailable."""
        if hmac.compare_digest(digest, self.operator):
            return OPERATOR
        until, caller = self._kept.get(digest, (0.0, STRANGER))
        if until <= time.monotonic():
            caller = await asyncio.to_thread(self._look_up, digest)
            self._kept[digest] = (time.monotonic() + SECONDS_KEPT, caller)
            self._kept.move_to_end(digest)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return caller

    def _look_up(self, digest: bytes) -> ApiCaller:
        now = int(time.time())
        if device := self._tokens.device_of(digest, now):
            return ApiCaller(device)
        if token := self._tokens.operator_of(digest, now):
            return ApiCaller(is_operator=True, name=token.name, is_read_only=token.is_read_only)
        return STRANGER
