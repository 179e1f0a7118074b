"""The Bot API over the firmware's own HTTP client: a method's fields go out, its result comes in, all bounded.

What goes wrong is a BotError. The bot's token stands in the path of each request, and in no error.
"""

import asyncio

from engram.channels.telegram.updates import part
from engram.clock import Timeout
from engram.compat import const, wait_for_ms
from engram.errors import EngramError
from engram.llm.http.client import Client
from engram.llm.http.response import ProtocolError
from engram.llm.http.transport import CertificateRefused, reason
from engram.llm.reply import string_field
from engram.text import cut, decode, dumps, loads, printable

# Protects against an answer without end: one update, with the message that it replies to, has about 60 KB.
_LONGEST_ANSWER = const(400_000)
_SMALL = const(2048)  # bytes of an answer that is read whole: a bot, a file's path, an error
_HEAD = const(256)  # bytes of an answer in which the id of a sent message stands
_BEGINNING = const(1000)  # bytes in which the number of an update, its sender and its chat stand
_WORDS = const(200)  # characters of the service's own words
_CONNECT_MS = const(10_000)
_ANSWER_MS = const(20_000)  # the longest silence of the service, besides the wait of a long poll
_FILE_MS = const(60_000)  # what a file may take: meanwhile its link serves nobody else
_JSON = const((("Content-Type", "application/json"),))

UPDATES = ("message", "edited_message")
"""The kinds of updates that are asked for."""


class BotError(EngramError):
    """A call that failed: `code` is the service's, 0 if the link failed; `retry_after` is in seconds, 0 if none was named.

    With `is_unknown` the service may have done what was asked. `moved_to` is the supergroup that the group became, else 0.
    """

    def __init__(self, code: int, problem: str, retry_after: int = 0, is_unknown: bool = False, moved_to: int = 0):
        super().__init__(problem)
        self.code = code
        self.retry_after = retry_after
        self.is_unknown = is_unknown
        self.moved_to = moved_to

    def says(self, words: str) -> bool:
        """Whether the service's description has these words."""
        return words in str(self).lower()


class Unreadable(Exception):
    """An update that the board cannot read; `update_id`, `chat`, `sender` and `message_id` are 0 if its beginning does not tell
    them. `sender` is 0 for a bot, too, in whose name chats write.
    """

    def __init__(self, beginning: bytes):
        super().__init__("an update is too large for the board")
        self._beginning = beginning = beginning[:_BEGINNING]
        self.update_id = _number_after(beginning, b'"update_id":')
        self.message_id = _number_after(beginning, b'"message_id":')
        self.chat = _number_after(beginning, b'"chat":{"id":')
        sender = b"" if b'"is_bot":true' in beginning[: beginning.find(b'"chat"')].replace(b" ", b"") else beginning
        self.sender = _number_after(sender, b'"from":{"id":')

    def names(self, username: str) -> bool:
        """Whether its beginning names a bot."""
        return b"@" + username.lower().encode() in self._beginning.lower()


class BotApi:
    """Calls of one bot over one link, one at a time."""

    def __init__(self, url: str, token: str, tls=None, network=None, one_link=None, wait_s: int = 0):
        stall_ms = _ANSWER_MS + 1000 * wait_s
        self.client = Client(url, _CONNECT_MS, stall_ms, _LONGEST_ANSWER, tls=tls, network=network, one_link=one_link)
        self._token = token
        self._network = network

    @property
    def network_changes(self) -> int:
        """How often the network has changed so that what failed before it may go well."""
        return self._network.changes if self._network else 0

    def tidy(self) -> None:
        """Close a link that idles; to be called now and then."""
        self.client.tidy()

    async def close(self) -> None:
        """Close the link after the call under way."""
        await self.client.close()

    async def call(self, method: str, **fields):
        """The result of a method that gives little."""
        return await self._result(await self._ask(method, fields))

    async def send(self, method: str, **fields) -> int:
        """Call what must not happen twice; the id of the message that it made, 0 if it makes none."""
        answer = await self._ask(method, fields, is_repeatable=False)
        try:
            await self._check(answer)
            head = await self.guarded(answer.collect(_HEAD))
            while not answer.ended:
                await self.guarded(answer.read())  # the message again, which the board has
        finally:
            self.client.release(answer)
        return _number_after(head, b'"message_id":')

    async def updates(self, offset: int, limit: int, wait_s: int, most: int) -> list:
        """The updates from `offset` on, of at most `most` bytes of JSON; Unreadable if the first one is larger."""
        fields = {"offset": offset, "limit": limit, "timeout": wait_s, "allowed_updates": UPDATES}
        answer = await self._ask("getUpdates", fields)
        try:
            await self._check(answer)
            data = await self.guarded(answer.collect(most))
            is_whole = answer.ended
            while not answer.ended:
                await self.guarded(answer.read())
        finally:
            self.client.release(answer)
        try:
            found = _result(data) if is_whole and len(data) <= most else None
        except (MemoryError, ValueError):
            found = None
        if isinstance(found, list):
            return found
        if limit > 1:
            del data, found, answer
            return await self.updates(offset, 1, 0, most)
        large = Unreadable(data)
        if not large.update_id:
            raise BotError(0, "the service does not answer as Telegram does; check telegram.url")
        raise large

    async def open_file(self, path: str, longest_ms: int = _FILE_MS) -> "Download":
        """The file at a path that getFile has given, as it comes; no other call is made before it is closed.

        BotError, also as it is read, if it takes longer than that.
        """
        end = Timeout()
        end.begin(longest_ms)
        asked = self.client.ask("GET", "/file/bot%s/%s" % (self._token, path))
        answer = await self.guarded(_until(end, asked))
        download = Download(self, answer, end)
        if answer.status != 200:
            await download.close()
            raise BotError(answer.status, "the file is not there any more")
        return download

    async def _ask(self, method: str, fields: dict, is_repeatable: bool = True):
        path = "/bot%s/%s" % (self._token, method)
        return await self.guarded(self.client.ask("POST", path, _JSON, lambda: _body(fields), is_repeatable))

    async def _result(self, answer):
        try:
            await self._check(answer)
            data = await self.guarded(answer.collect(_SMALL))
        finally:
            self.client.release(answer)
        try:
            return _result(data)
        except ValueError:
            raise BotError(0, "the service does not answer as Telegram does; check telegram.url")

    async def _check(self, answer) -> None:
        """BotError if an answer is an error."""
        if answer.status == 200:
            return
        data = await self.guarded(answer.collect(_SMALL))
        try:
            error = loads(data)
        except ValueError:
            error = None
        error = error if isinstance(error, dict) else {}
        words, more = error.get("description"), error.get("parameters")
        retry_after = part(more, "retry_after", int) or max(0, answer.retry_after)
        words = printable(words if isinstance(words, str) else decode(b"" if data[:1] == b"<" else data))
        words = cut(" ".join(words.split()), _WORDS)
        problem = "Telegram answers %d%s" % (answer.status, ": " + words if words else "")
        # What answers for a service that is in trouble does not know what that has done.
        is_unknown = answer.status >= 500
        moved_to = part(more, "migrate_to_chat_id", int)
        raise BotError(answer.status, problem.replace(self._token, "***"), retry_after, is_unknown, moved_to)

    async def guarded(self, awaitable):
        """Await something of the client; its errors become ours."""
        client = self.client
        try:
            return await awaitable
        except CertificateRefused as error:
            raise BotError(0, str(error))
        except ProtocolError as error:
            raise BotError(0, "%s: %s; check telegram.url" % (client.url, error), is_unknown=True)
        except OSError as error:
            problem = "the link to %s failed: %s" % (client.host, reason(error))
            raise BotError(0, problem, is_unknown=client.is_sent)


class Download:
    """A file that comes over the link of a BotApi, until a Timeout ends."""

    def __init__(self, api: BotApi, answer, end: Timeout):
        self._api = api
        self._answer = answer
        self._end = end
        self._piece = memoryview(b"")

    async def read(self, size: int):
        """At most `size` bytes that come next, lent until the next call; none at the end."""
        if not len(self._piece):
            self._piece = await self._api.guarded(_until(self._end, self._answer.read()))
        piece = self._piece[:size]
        self._piece = self._piece[size:]
        return piece

    async def close(self) -> None:
        """Be done with the file."""
        if self._answer:
            self._api.client.release(self._answer)
            self._answer = None


async def _until(end: Timeout, awaitable):
    """Await what a file needs, no longer than until a Timeout ends."""
    try:
        return await wait_for_ms(awaitable, end.left_ms)
    except asyncio.TimeoutError:
        raise BotError(0, "it takes too long over this link: send it in parts") from None


def _body(fields: dict):
    """The pieces of a JSON object; a long text is written a slice at a time."""
    mark = b"{"
    for name in sorted(fields):  # the same order each time, which a dict of MicroPython does not promise
        value = fields[name]
        head = mark + b'"' + name.encode() + b'":'
        if isinstance(value, str):
            yield from string_field(head, value)
        else:
            yield head + dumps(value).encode()
        mark = b","
    yield b"{}" if mark == b"{" else b"}"


def _result(data: bytes):
    document = loads(data)
    if not isinstance(document, dict) or document.get("ok") is not True:
        raise ValueError
    return document.get("result")


def _number_after(data: bytes, name: bytes) -> int:
    """The whole number that stands behind `name` for the first time, 0 if none does; white space is left out."""
    data = data[:_BEGINNING].replace(b" ", b"")
    at = data.find(name)
    end = at = at + len(name) if at >= 0 else len(data)
    while end < len(data) and (data[end : end + 1].isdigit() or (end == at and data[end] == 0x2D)):
        end += 1
    return int(data[at:end]) if data[at:end].lstrip(b"-") else 0
