"""The link's messages over HTTP: each is posted, and the response body is its answer."""

from engram.compat import sleep_ms
from engram.errors import NetError, Refused
from engram.link.messages import ANSWER_BYTES, WAIT_SECONDS
from engram.net.http import Client
from engram.net.response import describe_status, error_text, is_busy

_STALL_MS = const(15_000)  # the longest silence of a companion that works on a message
_WORDS = const(300)  # bytes of a refusal that are read
_TIDY_MS = const(5000)  # between two looks whether the link idles
_NO_MESSAGES_AGAIN = const(60)  # seconds after which an address that takes no messages is tried again


class HttpTransport:
    """A link to the companion at a base URL; take(bytes) gets the answers."""

    wait_seconds = WAIT_SECONDS

    def __init__(self, url: str, device: str, token: str, take, tls=None):
        self._client = _client(url, tls, _STALL_MS)
        # A link of its own: what waits for a message is not to keep the others waiting.
        self._listener = _client(url, tls, WAIT_SECONDS * 1000 + _STALL_MS)
        self._path = "/v1/devices/%s/messages" % device
        self._headers = [("Content-Type", "application/octet-stream")]
        if token:
            self._headers.append(("Authorization", "Bearer " + token))
        self._take = take

    async def open(self) -> None:
        """Do nothing, as the first message connects."""

    async def run(self) -> None:
        while True:
            await sleep_ms(_TIDY_MS)
            self._client.tidy()
            self._listener.tidy()

    def close(self) -> None:
        """Do nothing, as the client keeps the link or closes it when idle."""

    async def send(self, head: bytes, body=None) -> None:
        """Post a message and handle its answer; NetError, or errors of the body's pieces()."""
        await self._post(self._client, head, body)

    async def listen(self, head: bytes, body=None) -> None:
        await self._post(self._listener, head, body)

    async def _post(self, client, head: bytes, body) -> None:

        def parts():
            yield head
            if body:
                yield from body.pieces()

        answer = await client.ask("POST", self._path, self._headers, parts)
        try:
            if answer.status != 200:
                raise await self._refusal(answer)
            data = await answer.collect(ANSWER_BYTES + 1)
        finally:
            client.release(answer)
        if data:
            self._take(data)

    async def _refusal(self, answer) -> NetError:
        said = describe_status(answer.status, error_text(await answer.collect(_WORDS)))
        if answer.status in (401, 403):
            return Refused("the companion refused the board; check companion.token" + said)
        if is_busy(answer.status):
            return NetError("the companion is busy or in trouble" + said)
        return Refused("the companion takes no messages here; check companion.url" + said, _NO_MESSAGES_AGAIN)


def _client(url: str, tls, stall_ms: int) -> Client:
    return Client(url, stall_ms=stall_ms, most=ANSWER_BYTES, tls=tls)
