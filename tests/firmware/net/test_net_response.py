"""Answers of HTTP/1.1: heads and bodies, cut anywhere, against what they were made from."""

import random

from engram.errors import BadAnswer, NetError
from engram.net.response import Response
from support import raises

_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


class _Link:
    """Gives `left` in random steps up to `step`, or in the given ones and then all, then the end of the stream."""

    name = "here"

    def __init__(self, data, step: "int | tuple[int, ...]" = 64):
        self.left = data
        self._step = step
        self._steps = [] if isinstance(step, int) else list(step)

    async def readinto(self, view, within_ms):
        count = min(self._next_step(), len(view), len(self.left))
        view[:count] = self.left[:count]
        self.left = self.left[count:]
        return count

    def _next_step(self):
        if isinstance(self._step, int):
            return random.randrange(1, self._step + 1)
        return self._steps.pop(0) if self._steps else len(self.left)


def _answer(data, *, step=64, buffer=64, most=100_000):
    return Response(_Link(data, step), bytearray(buffer), stall_ms=1000, most=most)


async def _body(answer):
    body = b""
    while True:
        piece = await answer.read()
        if not len(piece):
            return body
        body += bytes(piece)


async def _read(data, **options):
    answer = _answer(data, **options)
    await answer.read_head()
    return answer, await _body(answer)


async def _refused(data, **options):
    with raises(BadAnswer) as caught:
        await _read(data, **options)
    return str(caught.error)


def _chunked(body):
    out = b""
    at = 0
    while at < len(body):
        size = random.randrange(1, 90)
        piece = body[at : at + size]
        digits = hex(len(piece))[2:]
        out += (digits.upper() if size % 2 else "00" + digits).encode()
        out += (b"", b";ext", b' ; a="' + b"x" * 250 + b'"')[size % 3] + b"\r\n" + piece + b"\r\n"
        at += len(piece)
    trailers = (b"", b"X-Trailer: y\r\n", b"A: b\r\nC: " + b"d" * 300 + b"\r\n")[len(body) % 3]
    return out + b"0\r\n" + trailers + b"\r\n"


async def test_wanted_headers_are_found_in_any_case_among_others():
    head = b"HTTP/1.1 429 Too Many Requests\r\nX-Long: " + b"x" * 3000 + b"\r\nRetry-After: 7\r\n"
    answer, _ = await _read(head + b"content-LENGTH:  0\r\n\r\n")
    assert (answer.status, answer.retry_after, answer.is_spent()) == (429, 7, True)


async def test_random_chunked_bodies_come_out_whole():
    random.seed(5)
    for case in range(150):
        body = bytes(random.getrandbits(8) for _ in range(random.randrange(400)))
        answer, found = await _read(_CHUNKED + _chunked(body), step=random.randrange(1, 80))
        assert found == body, case
        assert answer.is_spent(), case


async def test_every_cut_of_a_chunked_answer_is_an_error():
    random.seed(6)
    data = _CHUNKED + _chunked(b"hello world, this is a body")
    for at in range(len(data)):
        with raises(NetError):
            await _read(data[:at])


async def test_a_body_without_a_length_ends_with_the_link():
    answer, body = await _read(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300)
    assert (body, answer.is_spent()) == (b"x" * 300, False)


async def test_no_more_of_a_body_is_read_than_its_length():
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    for steps in ((len(head),), (len(head) + 1,), (len(head) + 2,)):
        link = _Link(head + b"hello", steps)
        answer = Response(link, bytearray(400), stall_ms=1000, most=100)
        await answer.read_head()
        assert (await _body(answer), link.left) == (b"he", b"llo"), steps


async def test_a_link_is_not_used_again_when_the_service_closes_it():
    for head in (b"HTTP/1.1 200 OK\r\nConnection: Close\r\n", b"HTTP/1.0 200 OK\r\n"):
        answer, _ = await _read(head + b"Content-Length: 0\r\n\r\n")
        assert not answer.is_spent()
    answer, _ = await _read(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n")
    assert answer.is_spent()


async def test_interim_answers_are_skipped():
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    answer, body = await _read(interim * 2 + b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!")
    assert (answer.status, body) == (200, b"!")
    await _refused(interim * 9)


async def test_a_body_is_bounded():
    for data in (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 101, _CHUNKED + _chunked(b"x" * 101)):
        assert "longer than its bound" in await _refused(data, most=100)


async def test_a_head_without_end_is_refused():
    await _refused(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000, step=1000, buffer=1000)
    await _refused(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200)
    await _refused(b"x" * 20_000, step=1000, buffer=1000)


async def test_what_is_not_http_is_refused():
    length = b"HTTP/1.1 200 OK\r\nContent-Length: "
    for data in (
        b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/1.1 2x0 OK\r\n\r\n", b"HTTP/1.1 +20 OK\r\n\r\n",
        length + b"-1\r\n\r\n", length + b"1_0\r\n\r\n", length + b"9999999999\r\n\r\n",
        length + b"1\r\nContent-Length: 2\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        _CHUNKED + b"\r\n", _CHUNKED + b"0x1\r\nx\r\n0\r\n\r\n", _CHUNKED + b"1\r\nxx\r\n0\r\n\r\n",
        _CHUNKED + b"fffffffff\r\n",
    ):  # fmt: skip
        await _refused(data)


async def test_random_damage_gives_only_known_errors():
    random.seed(7)
    refused = 0
    for _ in range(300):
        data = bytearray(_CHUNKED + _chunked(b"hello world" * 3))
        for _ in range(random.randrange(1, 4)):
            data[random.randrange(len(data))] = random.getrandbits(8)
        try:
            await _read(bytes(data))
        except NetError:
            refused += 1
    assert 0 < refused < 300
