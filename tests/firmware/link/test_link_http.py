"""The way over HTTP against a service in the same process: what is posted, and what its answers are taken for."""

from engram.errors import NetError, Refused
from engram.link import messages
from engram.link.http import HttpTransport
from llm_peer import CLOSE, Peer, answer
from support import raises

FIRST = messages.encode("same", "0123", 1, 1)


class _Body:
    size = 6

    def pieces(self):
        return iter((b"one", b"two"))


async def _send(peer, token="", body=None):
    """What one message brings."""
    came = []
    way = HttpTransport(peer.url, "kitchen", token, lambda data: came.append(bytes(data)))
    await way.send(b"head\n", body)
    return came


async def test_a_message_is_posted_with_its_lines_and_the_token():
    async with Peer([answer(FIRST)]) as peer:
        assert await _send(peer, "secret", _Body()) == [FIRST]
        head, body = peer.requests[0]
    assert head.startswith(b"POST /v1/devices/kitchen/messages HTTP/1.1\r\n")
    assert b"Authorization: Bearer secret\r\n" in head and b"Content-Type: application/octet-stream\r\n" in head
    assert body == b"head\nonetwo"


async def test_an_answer_that_is_cut_or_beyond_the_bound_is_an_error_of_the_link():
    for steps in ([answer(FIRST)[:-1], CLOSE], [answer(b"x" * (messages.ANSWER_BYTES + 1))]):
        async with Peer(steps) as peer:
            with raises(NetError):
                await _send(peer)


async def test_a_refusal_says_what_to_do():
    refusals = (("401 Unauthorized", "companion.token"), ("404 Not Found", "companion.url"))
    for status, word in refusals:
        async with Peer([answer(b'{"detail":"no"}', status)]) as peer:
            with raises(Refused) as caught:
                await _send(peer)
        assert word in str(caught.error) and caught.error.again_s >= 60


async def test_a_companion_in_trouble_is_tried_again_like_a_link():
    for status in ("503 Service Unavailable", "429 Too Many Requests"):
        async with Peer([answer(b"", status)]) as peer:
            with raises(NetError) as caught:
                await _send(peer)
        assert not isinstance(caught.error, Refused)
