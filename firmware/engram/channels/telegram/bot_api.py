"""The Bot API over the firmware's own HTTP client, with bounded answers. Each failure is a BotError
without the token of a request's path.
"""

from collections import namedtuple

from engram.errors import BadAnswer, EngramError, NetError, Refused
from engram.net.http import Client
from engram.text import cut, dumps, object_in, part, printable

NAME = "telegram"

Destination = namedtuple("Destination", "chat topic reply_to is_group")
"""A chat, its topic or 0, and the answered message or 0."""


def destination_of(address: str) -> Destination:
    """Return the Destination of a message's id or a room."""
    parts = address.replace(":", " ").split(" ")
    chat = int(parts[1])
    is_message = ":" in address
    message = parts[2].partition(".")[0] if is_message else "0"
    topic = parts[2 + is_message :]
    return Destination(chat, int(topic[0]) if topic else 0, int(message), chat < 0)


def room_of(destination: Destination) -> str:
    topic = " %d" % destination.topic if destination.topic else ""
    return "%s %d%s" % (NAME, destination.chat, topic)


def message_id(destination: Destination, edit: int = 0) -> str:
    """Return the journal's id of a message; `edit` is its editing update, 0 for the original."""
    mark = ".%d" % edit if edit else ""
    topic = ":%d" % destination.topic if destination.topic else ""
    return "%s:%d:%d%s%s" % (NAME, destination.chat, destination.reply_to, mark, topic)


# Bounds an endless answer: six updates of at most about 60 KB each.
_LONGEST_ANSWER = const(400_000)
_SMALL = const(2048)  # bytes of an error
_WORDS = const(200)  # characters of the service's own words
_ANSWER_MS = const(20_000)  # the longest silence of the service, besides the wait of a long poll
_JSON = const((("Content-Type", "application/json"),))

UPDATES = ("message", "edited_message")
"""Kinds of updates to request."""


class BotError(EngramError):
    """A failed call: `code` 0 for a broken link, `is_unknown` if it may have taken effect."""

    def __init__(self, code: int, problem: str, retry_after: int = 0, is_unknown: bool = False, moved_to: int = 0):
        super().__init__(problem)
        self.code = code
        self.retry_after = retry_after
        self.is_unknown = is_unknown
        self.moved_to = moved_to

    def says_any(self, phrases) -> bool:
        return any(phrase in str(self).lower() for phrase in phrases)


class BotApi:
    """The calls of one bot over one link, one at a time."""

    def __init__(self, url: str, token: str, tls=None, network=None, wait_s: int = 0):
        stall_ms = _ANSWER_MS + 1000 * wait_s
        self.client = Client(url, stall_ms=stall_ms, most=_LONGEST_ANSWER, tls=tls, network=network)
        self._token = token

    async def call(self, method: str, fields: dict, is_repeatable: bool = True):
        """Return a method's result; calls that must not happen twice are not repeatable."""
        body = dumps(fields).encode()
        path = "/bot%s/%s" % (self._token, method)
        answer = await self._guarded(self.client.ask("POST", path, _JSON, lambda: (body,), is_repeatable))
        try:
            await self._check(answer)
            document = object_in(await self._guarded(answer.collect(_LONGEST_ANSWER)))
            if document is None or document.get("ok") is not True:
                raise _no_telegram()
            return document.get("result")
        finally:
            self.client.release(answer)

    async def updates(self, offset: int, limit: int, wait_s: int) -> list:
        """Return the updates from `offset` on; only the first if memory is short."""
        fields = {"offset": offset, "limit": limit, "timeout": wait_s, "allowed_updates": UPDATES}
        try:
            found = await self.call("getUpdates", fields)
        except MemoryError:
            if limit == 1:
                raise
            return await self.updates(offset, 1, 0)
        if not isinstance(found, list):
            raise _no_telegram()
        return found

    async def _check(self, answer) -> None:
        """Raise BotError if an answer is an error."""
        if answer.status == 200:
            return
        error = object_in(await self._guarded(answer.collect(_SMALL)))
        words, more = part(error, "description", str), part(error, "parameters", dict)
        retry_after = part(more, "retry_after", int) or max(0, answer.retry_after)
        words = cut(" ".join(printable(words).split()), _WORDS)
        problem = "Telegram answers %d%s" % (answer.status, ": " + words if words else "")
        # A proxy before a failing service does not know what the service did.
        is_unknown = answer.status >= 500
        moved_to = part(more, "migrate_to_chat_id", int)
        raise BotError(answer.status, problem.replace(self._token, "***"), retry_after, is_unknown, moved_to)

    async def _guarded(self, awaitable):
        """Await a client call; raise its errors as BotError."""
        try:
            return await awaitable
        except Refused as error:
            raise BotError(0, str(error))
        except BadAnswer as error:
            raise BotError(0, "%s; check telegram.url" % error, is_unknown=True)
        except NetError as error:
            raise BotError(0, str(error), is_unknown=self.client.is_sent)


def _no_telegram() -> BotError:
    return BotError(0, "the service does not answer as Telegram does; check telegram.url", is_unknown=True)
