"""The queue of updates: kept until an offset confirms them, given to one poller at a time."""

import asyncio
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

from .clock import Clock
from .errors import ApiError
from .records import Json

KINDS = ("message", "edited_message", "my_chat_member", "chat_member")
"""The kinds that this service makes."""
ALL_KINDS = (
    *KINDS,
    "channel_post",
    "edited_channel_post",
    "business_connection",
    "business_message",
    "edited_business_message",
    "deleted_business_messages",
    "message_reaction",
    "message_reaction_count",
    "inline_query",
    "chosen_inline_result",
    "callback_query",
    "shipping_query",
    "pre_checkout_query",
    "purchased_paid_media",
    "poll",
    "poll_answer",
    "chat_join_request",
    "chat_boost",
    "removed_chat_boost",
    "managed_bot",
    "guest_message",
)
"""The kinds that a bot may ask for."""
NOT_BY_DEFAULT = ("chat_member", "message_reaction", "message_reaction_count")

KEPT_SECONDS = 24 * 3600
"""The service keeps an update for a day."""
_WAITING = 100_000
"""Updates that wait at most; protects the server's memory."""
_FUTURE = 10
"""An offset so far behind the last update is of another bot, and counts as none."""
_OTHER_POLL = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


@dataclass(frozen=True, slots=True)
class _Waiting:
    id: int
    body: Json
    date: float

    def as_json(self) -> Json:
        return {"update_id": self.id, **self.body}


class UpdateQueue:
    """Updates in their order; `allowed` is what the bot last asked for."""

    def __init__(self, clock: Clock, first_id: int):
        self._clock = clock
        self._next = first_id
        self._waiting: deque[_Waiting] = deque(maxlen=_WAITING)
        self._recent: deque[_Waiting] = deque(maxlen=1_000)
        self._again: list[_Waiting] = []
        self._poller: asyncio.Future[None] | None = None
        self.allowed: tuple[str, ...] | None = None
        self.delivered = 0
        """Updates given out, a second delivery counted again."""

    @property
    def pending(self) -> int:
        """How many wait for their confirmation."""
        return len(self._waiting)

    @property
    def is_polled(self) -> bool:
        """Whether a long poll waits now."""
        return self._poller is not None

    @property
    def last_id(self) -> int:
        """The id of the newest update."""
        return self._next - 1

    def put(self, kind: str, body: Json) -> int:
        """Add an update; its id, or 0 if the bot does not want this kind."""
        if kind in NOT_BY_DEFAULT if self.allowed is None else kind not in self.allowed:
            return 0
        update = _Waiting(self._next, {kind: body}, self._clock.now())
        self._next += 1
        self._waiting.append(update)
        self._recent.append(update)
        self._wake()
        return update.id

    def repeat(self, update_id: int, *, same_id: bool) -> int:
        """Deliver an update once more, under its own id even if it is confirmed, or as a new one; the id."""
        update = next((update for update in reversed(self._recent) if update.id == update_id), None)
        if update is None:
            raise LookupError(f"there is no update {update_id}")
        if same_id:
            self._again.append(update)
            self._wake()
            return update.id
        (kind, body), *_ = update.body.items()
        assert isinstance(body, dict)
        return self.put(kind, body)

    async def get(self, offset: int, limit: int, timeout: float) -> list[Json]:
        """Answer getUpdates: confirm what is before the offset, wait for something, end an older poll with a conflict."""
        self._confirm(offset)
        found = self._take(offset, limit)
        if found or timeout <= 0:
            return found
        await self._wait(timeout)
        return self._take(offset, limit)

    def clear(self) -> None:
        """Drop everything that waits."""
        self._waiting.clear()

    def end_poll(self, error: ApiError) -> None:
        """Answer a poll that waits with an error."""
        if self._poller is not None and not self._poller.done():
            self._poller.set_exception(error)

    def _confirm(self, offset: int) -> None:
        oldest = self._clock.now() - KEPT_SECONDS
        while self._waiting and self._waiting[0].date < oldest:
            self._waiting.popleft()
        if offset < 0:
            while len(self._waiting) > -offset:
                self._waiting.popleft()
        elif offset <= self._next + _FUTURE:
            while self._waiting and self._waiting[0].id < offset:
                self._waiting.popleft()

    def _take(self, offset: int, limit: int) -> list[Json]:
        again, self._again = self._again[:limit], self._again[limit:]
        found = [*again, *list(self._waiting)[: limit - len(again)]]
        self.delivered += len(found)
        return [update.as_json() for update in found]

    async def _wait(self, timeout: float) -> None:
        self.end_poll(ApiError(409, _OTHER_POLL))
        own: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._poller = own
        sleep = asyncio.ensure_future(self._clock.sleep(timeout))
        try:
            await asyncio.wait({own, sleep}, return_when=asyncio.FIRST_COMPLETED)
            if own.done():
                own.result()
        finally:
            sleep.cancel()
            own.cancel()
            if self._poller is own:
                self._poller = None

    def _wake(self) -> None:
        if self._poller is not None and not self._poller.done():
            self._poller.set_result(None)


def check_allowed(kinds: Collection[object]) -> tuple[str, ...] | None:
    """The kinds that a bot asks for; None, the default ones, if it names none. ApiError for one that does not exist."""
    for kind in kinds:
        if kind not in ALL_KINDS:
            raise ApiError(400, f"Bad Request: strict fake: there is no update type {kind!r}")
    return tuple(str(kind) for kind in kinds) or None
